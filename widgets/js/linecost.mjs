// What one contended line costs: N CPUs count events in four ways; the curves come from runs of the engine.

import { h, onWidth, s, uid } from "./dom.mjs";
import { control } from "./controls.mjs";
import { createPool } from "./pool.mjs";
import { format, linear, logarithmic } from "./scales.mjs";
import { table } from "./table.mjs";

const MARKS = ["M-4,-4 h8 v8 h-8 z", "M0,-5 L5,4 H-5 z", "M0,-5 L5,0 L0,5 L-5,0 z", "M-4,0 h8 M0,-4 v8"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const HEIGHT = 300;
const PAD = { left: 52, right: 10, top: 12, bottom: 40 };

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const ways = Object.entries(sidecar.ways);
  const machines = sidecar.machines;
  const knobs = [
    { name: "machine", kind: "choice", choices: Object.keys(machines), doc: "Whose costs, and whose measurements." },
    {
      name: "threads",
      kind: "int",
      low: 1,
      high: sidecar.cpus,
      step: 1,
      unit: "CPUs",
      doc: "How many CPUs count at once.",
    },
    {
      name: "transfer_ns",
      kind: "int",
      low: 5,
      high: 300,
      step: 1,
      unit: "ns",
      doc: "What handing the line to the next CPU costs.",
    },
  ];
  const transferOf = (name) => Math.round(machines[name].costs.same_socket_ps / 1000);
  const values = {
    machine: model.get("machine"),
    threads: model.get("threads"),
    transfer_ns: model.get("transfer_ns"),
  };
  const summary = h("p", { class: "rp-summary", role: "status", "aria-live": "polite" });
  const mark = h("p", { class: "rp-mark" });
  const picture = h("div", { class: "rp-picture" });
  const numbers = h("div", { class: "rp-numbers" });
  let curves = {};
  let coming = {};
  let ticket = 0;
  let width = 320;

  const controls = {};
  for (const k of knobs) controls[k.name] = control(k, (value) => move({ [k.name]: value }));

  function move(changes) {
    if (changes.machine && !("transfer_ns" in changes)) changes.transfer_ns = transferOf(changes.machine);
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) {
      controls[name].set(values[name]);
      model.set(name, values[name]);
    }
    model.save_changes();
    if ("machine" in changes || "transfer_ns" in changes) ask();
    else draw();
  }

  function ask() {
    const costs = { ...machines[values.machine].costs, same_socket_ps: values.transfer_ns * 1000 };
    const jobs = [];
    for (const [at, [name, way]] of ways.entries())
      for (let threads = 1; threads <= sidecar.cpus; threads++)
        jobs.push({
          arm: name,
          threads,
          seed: 1,
          warm: way.warm_ps,
          until: way.until_ps,
          values: { ...costs, threads, way: at },
        });
    coming = {};
    ticket = pool.ask(() => jobs);
  }

  function heard(message) {
    if (message.kind === "failed") {
      el.dispatchEvent(new CustomEvent("rp-failed", { detail: `the engine did not start (${message.reason})` }));
    }
    if (message.ticket !== ticket) return;
    if (message.kind === "sample") {
      const { arm, threads } = message.job;
      (coming[arm] ??= [])[threads] = (threads * 1000) / message.sample.metrics.mops;
    }
    if (message.kind !== "done") return;
    curves = coming;
    draw();
    el.dispatchEvent(new CustomEvent("rp-drawn"));
  }

  const measured = (name) => machines[values.machine].measured[name];
  const label = (name) => sidecar.ways[name].label;
  const rate = (name) => (values.threads * 1000) / curves[name][values.threads];

  function draw() {
    if (!curves.atomic) return;
    const all = ways.flatMap(([name]) => [...curves[name].slice(1), ...measured(name).map((p) => p[1])]);
    const [low, high] = [
      10 ** Math.floor(Math.log10(Math.min(...all))),
      10 ** Math.ceil(Math.log10(Math.max(...all))),
    ];
    const x = linear(1, sidecar.cpus, PAD.left, width - PAD.right);
    const y = logarithmic(low, high, HEIGHT - PAD.bottom, PAD.top);
    const parts = [];
    for (let v = low; v <= high * 1.01; v *= 10) {
      parts.push(s("path", { d: `M${PAD.left},${y(v)} H${width - PAD.right}`, class: "rp-grid" }));
      parts.push(
        s("text", { x: PAD.left - 6, y: y(v) + 4, "text-anchor": "end", class: "rp-tick" }, v.toLocaleString("en")),
      );
    }
    for (const n of [1, 2, 4, 8, 12, 16]) {
      parts.push(
        s("text", { x: x(n), y: HEIGHT - PAD.bottom + 16, "text-anchor": "middle", class: "rp-tick" }, String(n)),
      );
    }
    parts.push(
      s("text", { x: width / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "CPUs that count; up: ns for one count"),
    );
    parts.push(s("path", { d: `M${x(values.threads)},${PAD.top} V${HEIGHT - PAD.bottom}`, class: "rp-reported" }));
    ways.forEach(([name], at) => {
      const points = curves[name].slice(1).map((ns, i) => `${x(i + 1)},${y(ns)}`);
      parts.push(
        s("path", { d: `M${points.join("L")}`, class: `rp-series rp-ink${at}`, "stroke-dasharray": DASHES[at] }),
      );
      for (const [n, ns] of measured(name)) {
        const dot = s("path", {
          d: MARKS[at],
          transform: `translate(${x(n)},${y(ns)})`,
          class: `rp-dot rp-ink${at}`,
        });
        dot.append(s("title", null, `${label(name)}, ${n} CPUs, measured: ${format(ns)} ns`));
        parts.push(dot);
      }
      parts.push(
        s("circle", {
          cx: x(values.threads),
          cy: y(curves[name][values.threads]),
          r: 4,
          class: `rp-now rp-ink${at}`,
        }),
      );
    });
    const words = ways.map(
      ([name]) =>
        `${label(name)} ${format(curves[name][values.threads])} ns a count, ${format(rate(name))} million a second in all`,
    );
    const said = `With ${values.threads} CPUs: ${words.join("; ")}.`;
    picture.replaceChildren(
      s("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": said }, parts),
    );
    legend.replaceChildren(
      ...ways.map(([name], at) =>
        h(
          "li",
          null,
          s(
            "svg",
            { width: 34, height: 12, "aria-hidden": "true" },
            s("path", { d: "M0,6 H34", class: `rp-series rp-ink${at}`, "stroke-dasharray": DASHES[at] }),
            measured(name).length > 0 &&
              s("path", { d: MARKS[at], transform: "translate(17,6)", class: `rp-dot rp-ink${at}` }),
          ),
          ` ${label(name)}${measured(name).length ? "" : " (not measured there)"}`,
        ),
      ),
    );
    summary.textContent = said;
    mark.textContent = `Lines: WebAssembly, in this page · marks: measured on ${machines[values.machine].processor} · ${sidecar.source}`;
    const at = (name) => measured(name).find((p) => p[0] === values.threads)?.[1];
    numbers.replaceChildren(
      table(
        `${values.threads} CPUs, ${values.machine}`,
        ["way to count", "ns a count", "measured, ns", "million a second, all CPUs"],
        ways.map(([name]) => [
          label(name),
          format(curves[name][values.threads]),
          at(name) === undefined ? "not measured" : format(at(name)),
          format(rate(name)),
        ]),
      ),
    );
    el.dataset.settled = "true";
  }

  const title = uid("title");
  const legend = h("ul", { class: "rp-legend", "aria-label": "Ways to count" });
  el.classList.add("rp");
  el.append(
    h(
      "section",
      { class: "rp-cost", "aria-labelledby": title },
      h("p", { id: title, class: "rp-title" }, "What one contended cache line costs"),
      h(
        "div",
        { class: "rp-controls" },
        knobs.map((k) => controls[k.name].node),
      ),
      picture,
      legend,
      summary,
      mark,
      h("div", { class: "rp-actions" }, h("button", { type: "button", onclick: () => move({ ...first }) }, "Reset")),
      numbers,
    ),
  );
  const first = { ...values };
  for (const k of knobs) {
    controls[k.name].set(values[k.name]);
    model.on(`change:${k.name}`, () => {
      if (model.get(k.name) !== values[k.name]) move({ [k.name]: model.get(k.name) });
    });
  }
  const pool = createPool(sidecar, 1, heard);
  const unwatch = onWidth(picture, (w) => {
    width = w;
    draw();
  });
  ask();
  return () => {
    unwatch();
    pool.close();
  };
}

export default { render };
