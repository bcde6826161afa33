// What one contended line costs: N CPUs count events in four ways; the curves come from runs of the engine.

import { h, onWidth, uid } from "./dom.mjs";
import { control } from "./controls.mjs";
import { drawCurves, key } from "./curves.mjs";
import { createPool } from "./pool.mjs";
import { format } from "./scales.mjs";
import { readAddress, writeAddress } from "./share.mjs";
import { table } from "./table.mjs";

const NUMBERS = [1, 2, 4, 8, 12, 16];

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
  const onPage = model.host === "page";
  for (const k of knobs) k.default = model.get(k.name);
  const first = Object.fromEntries(knobs.map((k) => [k.name, k.default]));
  const values = { ...first, ...(onPage ? readAddress("line-cost", knobs) : {}) };
  const summary = h("p", { class: "rp-summary", role: "status", "aria-live": "polite" });
  const mark = h("p", { class: "rp-mark" });
  const picture = h("div", { class: "rp-picture" });
  const numbers = h("div", { class: "rp-numbers" });
  let curves = {};
  let coming = {};
  let ticket = 0;
  let width = 320;

  const controls = {};
  for (const k of knobs) controls[k.name] = control(k, (value) => move({ [k.name]: value }), first[k.name]);

  function move(changes) {
    if (changes.machine && !("transfer_ns" in changes)) changes.transfer_ns = transferOf(changes.machine);
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) {
      controls[name].set(values[name]);
      model.set(name, values[name]);
    }
    model.save_changes();
    if (onPage) writeAddress("line-cost", knobs, values);
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
    const words = ways.map(
      ([name]) =>
        `${label(name)} ${format(curves[name][values.threads])} ns a count, ${format(rate(name))} million a second in all`,
    );
    const said = `With ${values.threads} CPUs: ${words.join("; ")}.`;
    const series = ways.map(([name]) => ({
      label: label(name),
      points: curves[name].slice(1).map((ns, i) => [i + 1, ns]),
      measured: measured(name),
      unit: "ns",
      now: curves[name][values.threads],
    }));
    const axis = "CPUs that count; up: ns for one count";
    const drawn = drawCurves({ width, series, numbers: NUMBERS, at: values.threads, axis, words: said });
    picture.replaceChildren(drawn.node);
    legend.replaceChildren(
      ...ways.map(([name], at) =>
        key(at, measured(name).length > 0, `${label(name)}${measured(name).length ? "" : " (not measured there)"}`),
      ),
    );
    summary.textContent = said;
    const below = measured("atomic").some(([n, ns]) => n > 1 && ns < curves.atomic[n] / 2);
    mark.textContent =
      `Lines: WebAssembly, in this page · marks: measured on ${machines[values.machine].processor} · ${sidecar.source}` +
      (below ? ". Marks far below a line: a core may add more than once while it has the line; the model hands it over each time." : "");
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
