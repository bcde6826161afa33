// A path program before and after a key, side by side, and what each instruction costs in both runs.

import { showsWith } from "./controls.mjs";
import { h } from "./dom.mjs";
import { change } from "./numbers.mjs";
import { createPanel } from "./panel.mjs";
import { createProgramList, textOf } from "./programlist.mjs";
import { programRows } from "./programrows.mjs";
import { createRuns } from "./runs.mjs";
import { format, interval } from "./scales.mjs";
import { table } from "./table.mjs";
import { symbolLink } from "./terms.mjs";

const SIDES = [0, 1];
const BOTH = [0, 1]; // softirq and threads, as a timing has them
const WHERE = ["softirq", "threads"];
const LEAST = 0.05; // ns below which a symbol is left out of the table

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { trace } = sidecar;
  let rows = [];
  let selection = model.get("selection");
  let timings = [null, null];
  let results = [null, null];
  let settled = false;

  // --- times ----------------------------------------------------------------------------------------
  // ns of a packet's time in an instruction, in softirq, in threads or in both; undefined until it is known.
  function cost(row, side, where = BOTH) {
    const t = timings[side];
    if (!t?.packets) return undefined;
    if (textOf(row, side) === null) return 0;
    return where.reduce((sum, kind) => sum + t.time_ps[kind][row.address], 0) / 1000 / t.packets;
  }
  function visits(row, side) {
    const t = timings[side];
    return t?.packets ? (t.visits[0][row.address] + t.visits[1][row.address]) / t.packets : undefined;
  }
  const ns = (x) => (x === undefined ? "…" : x < 0.005 ? "0" : format(x));
  const total = (some, side) =>
    timings[side] ? some.reduce((sum, row) => sum + (cost(row, side) ?? 0), 0) : undefined;

  const list = createProgramList({
    ns: (row, side) => ns(cost(row, side)),
    sum: (some, side) => ns(total(some, side)),
    chosen(address) {
      selection = address;
      model.set("selection", address);
      model.save_changes();
      tell();
    },
  });

  // --- the chosen instruction -----------------------------------------------------------------------
  const detail = h("div", { class: "rp-detail", "aria-live": "polite" });
  function tell() {
    const row = rows.find((one) => one.address === selection);
    if (!row)
      return detail.replaceChildren(h("p", { class: "rp-mark" }, "Choose an instruction to see what it costs."));
    const text = row.before === row.after ? row.before : `${row.before ?? "absent"} → ${row.after ?? "absent"}`;
    const cells = (of) => SIDES.map((side) => (textOf(row, side) === null ? "absent" : ns(of(side))));
    detail.replaceChildren(
      h("p", { class: "rp-selected" }, h("code", null, `${row.op} ${text}`), " in ", symbolLink(row.symbol)),
      table(
        `Address ${row.address}, for one packet`,
        ["for one packet", "before", "after"],
        [
          ["executions", ...cells((side) => visits(row, side))],
          ...WHERE.map((name, kind) => [`ns in ${name}`, ...cells((side) => cost(row, side, [kind]))]),
        ],
      ),
    );
  }

  // --- the numbers ----------------------------------------------------------------------------------
  const different = () => rows.filter((row) => row.kind !== "same");

  function symbolRows() {
    const totals = {};
    for (const row of rows)
      for (const side of SIDES)
        for (const kind of BOTH)
          (totals[row.symbol] ??= [0, 0, 0, 0])[2 * kind + side] += cost(row, side, [kind]) ?? 0;
    return Object.entries(totals)
      .filter(([, parts]) => Math.max(...parts) >= LEAST)
      .sort((a, b) => Math.max(...b[1]) - Math.max(...a[1]));
  }

  const symbolTable = () =>
    table(
      "Time for one packet by kernel symbol, ns",
      ["symbol", "softirq, before", "softirq, after", "threads, before", "threads, after"],
      symbolRows().map(([name, parts]) => [symbolLink(name), ...parts.map(ns)]),
    );
  const differenceTable = () =>
    table(
      "Instructions that differ",
      ["instruction", "symbol", "difference", "before, ns", "after, ns"],
      different().map((row) => [
        h("code", null, `${row.op} ${row.before ?? row.after}`),
        row.symbol,
        row.kind,
        ...SIDES.map((side) => (textOf(row, side) === null ? "absent" : ns(cost(row, side)))),
      ]),
    );

  function finding() {
    const count = (kind) => rows.filter((row) => row.kind === kind).length;
    const parts = [
      `${panel.values.key}: ${count("removed")} instructions removed, ${count("added")} added, ` +
        `${count("changed")} changed, ${count("same")} the same.`,
    ];
    if (timings[0] && timings[1]) {
      const all = SIDES.map((side) => ns(total(rows, side)));
      const part = SIDES.map((side) => ns(total(different(), side)));
      const mpps = timings.map((one) => `${format((1e6 * one.packets) / one.elapsed_ps)} Mpps`);
      parts.push(`In the ${format(timings[0].elapsed_ps / 1e6)} µs timed, instructions took ${all[0]} ns of all CPUs`);
      parts.push(`for one packet before, at ${mpps[0]}, and ${all[1]} ns after, at ${mpps[1]}`);
      parts.push(`(those that differ ${part[0]} and ${part[1]} ns).`);
      parts.push(`Mpps counts ${trace.packets.doc}; context switches come on top.`);
    }
    const [{ name }] = sidecar.metrics;
    if (settled) {
      const [a, b] = results.map((result) => result.metrics[name]);
      const rate = `${interval(a)} ${a.unit} before, ${interval(b)} after, ${change(a.mean, b.mean)}`;
      parts.push(`${name}: ${rate}.`);
    }
    return parts.join(" ");
  }

  function draw() {
    list.draw();
    tell();
    panel.summary.textContent = finding();
    const knob = sidecar.knobs.find((k) => k.name === panel.values.key);
    const idle = different().length || !rows.length ? "" : ` No instruction differs at these settings${showsWith(knob, sidecar.settings)}.`;
    const inert = knob.effect && knob.effect !== "acts" ? ` Does nothing here: ${knob.why}.` : idle;
    about.textContent = knob.doc + inert;
    panel.mark.textContent = [
      runs.where(),
      `engine ${String(sidecar.engine_hash).slice(0, 12)}`,
      `seed ${panel.values.seed}`,
      `times of one replication, ${format((trace.until_ps - sidecar.warm_ps) / 1e6)} µs`,
      settled ? `rates of ${results[0].replications}, 95 % intervals` : "refining",
    ].join(" · ");
    panel.numbers.replaceChildren(symbolTable(), differenceTable());
    panel.settled(settled && Boolean(timings[0] && timings[1]));
  }

  // --- the whole ------------------------------------------------------------------------------------
  const about = h("p", { class: "rp-mark" });
  const given = Object.entries(sidecar.given)
    .map(([name, value]) => `, ${name}=${JSON.stringify(value)}`)
    .join("");
  const panel = createPanel({
    model,
    el,
    name: "ProgramDiff",
    key: `program-diff-${sidecar.scenario}`,
    title: `Program before and after: ${sidecar.scenario}${given}`,
    knobs: [
      { name: "key", kind: "choice", choices: Object.keys(sidecar.keys), doc: "The switch: off before, on after." },
      { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, doc: "First seed of the runs." },
    ],
    call: () => `ProgramDiff("${sidecar.scenario}", "${panel.values.key}", seed=${panel.values.seed}${given})`,
    moved(changed) {
      if (changed.includes("key")) begin();
      ask();
      draw();
    },
    draw,
    rows: () => [
      ["address", "op", "operands before", "operands after", "symbol", "ns before", "ns after"],
      ...rows.map((row) => [
        row.address,
        row.op,
        row.before,
        row.after,
        row.symbol,
        ...SIDES.map((side) => (textOf(row, side) === null ? "" : cost(row, side))),
      ]),
    ],
    extra: about,
    after: null,
  });
  panel.picture.classList.add("rp-free");
  panel.picture.append(list.node);
  panel.picture.after(detail);
  const keys = { removed: "− only before", added: "+ only after", changed: "~ another line or cost" };
  panel.legend.replaceChildren(
    ...Object.entries(keys).map(([kind, label]) => h("li", { class: `rp-row-key rp-${kind}` }, label)),
  );

  function begin() {
    rows = programRows(sidecar, panel.values.key);
    if (!rows.some((row) => row.address === selection)) selection = -1;
    list.show(panel.values.key, rows);
    list.select(selection);
  }

  const runs = createRuns({
    model,
    sidecar,
    sides: (values, side) => ({ ...sidecar.settings, [values.key]: side }),
    more: (replication) => (replication === 0 ? { tally: { rows: trace.rows, until: trace.until_ps } } : {}),
    show(next, done, sets, extra) {
      results = next;
      settled = done;
      timings = SIDES.map((side) => (sets ? sets[side][0].timing : extra[side]?.timing) ?? null);
      draw();
      panel.drawn({ arms: next, done, timings });
    },
    failed(reason, before) {
      if (before) el.dispatchEvent(new CustomEvent("rp-failed", { detail: reason }));
      panel.summary.textContent = `No result for this key: ${reason}.`;
    },
  });
  function ask() {
    settled = false;
    timings = [null, null];
    panel.settled(false);
    runs.ask({ ...panel.values });
  }
  model.on("change:selection", () => {
    if (model.get("selection") === selection) return;
    selection = model.get("selection");
    list.select(selection);
    draw();
  });
  begin();
  panel.start();
  ask();
  return () => {
    panel.close();
    runs.close();
  };
}

export default { render };
