// A path program before and after a key, side by side, and what each instruction costs in both runs.

import { h } from "./dom.mjs";
import { change } from "./numbers.mjs";
import { createPanel } from "./panel.mjs";
import { folded, programRows } from "./programrows.mjs";
import { createRuns } from "./runs.mjs";
import { format, interval } from "./scales.mjs";
import { table } from "./table.mjs";
import { symbolLink } from "./terms.mjs";

const SIDES = [0, 1];
const SIDE = ["b", "a"]; // classes of cells: before, after
const SIGNS = { removed: "−", added: "+", changed: "~", same: "" };
const WHERE = ["softirq", "threads"];
const PAGE = 10; // rows that PageDown goes on

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { trace } = sidecar;
  let rows = [];
  let shown = [];
  let open = new Set();
  let focused = 0; // place in `shown`
  let selection = model.get("selection");
  let timings = [null, null];
  let results = [null, null];
  let settled = false;

  // --- times ----------------------------------------------------------------------------------------
  // ns of a packet's time in an instruction, in softirq, threads or both.
  function cost(side, address, where = [0, 1]) {
    const t = timings[side];
    if (!t || !t.packets) return undefined;
    return where.reduce((sum, kind) => sum + t.time_ps[kind][address], 0) / 1000 / t.packets;
  }
  const visits = (side, address) => {
    const t = timings[side];
    return t?.packets ? (t.visits[0][address] + t.visits[1][address]) / t.packets : undefined;
  };
  const sum = (side, some) => some.reduce((total, row) => total + (row[side ? "after" : "before"] === null ? 0 : (cost(side, row.address) ?? 0)), 0);
  const ns = (x) => (x === undefined ? "…" : x < 0.005 ? "0" : format(x));
  const words = (row) =>
    SIDES.map((side) => {
      const text = row[side ? "after" : "before"];
      return `${side ? "after" : "before"} ${text === null ? "absent" : `${ns(cost(side, row.address))} ns a packet`}`;
    }).join(", ");

  // --- the listing ----------------------------------------------------------------------------------
  const grid = h("div", { class: "rp-diff", role: "treegrid", tabindex: -1, "aria-label": "Both programs, instruction by instruction" });
  const detail = h("div", { class: "rp-detail", "aria-live": "polite" });

  function cell(row, side) {
    const text = row[side ? "after" : "before"];
    const there = text !== null;
    return [
      h("span", { role: "gridcell", class: `rp-ns rp-${SIDE[side]}` }, there ? ns(cost(side, row.address)) : ""),
      h(
        "span",
        { role: "gridcell", class: `rp-code rp-${SIDE[side]}${there ? "" : " rp-absent"}` },
        there ? [h("b", null, SIGNS[row.kind] && `${SIGNS[row.kind]} `), `${row.op} ${text}`] : "",
      ),
    ];
  }

  function line(row, at) {
    const tabindex = at === focused ? 0 : -1;
    if (row.fold !== undefined) {
      const isOpen = open.has(row.fold);
      const label = `${isOpen ? "hide" : "show"} ${row.rows.length} equal instructions`;
      const costs = SIDES.map((side) => `${ns(timings[side] ? sum(side, row.rows) : undefined)} ns`).join(" before, ");
      return h(
        "div",
        { role: "row", class: "rp-fold", tabindex, "data-at": at, "aria-expanded": String(isOpen) },
        h("span", { role: "gridcell" }, `${isOpen ? "▾" : "▸"} ${label} (${costs} after)`),
      );
    }
    const chosen = row.address === selection;
    return h(
      "div",
      {
        role: "row",
        class: `rp-row rp-${row.kind}`,
        tabindex,
        "data-at": at,
        "aria-selected": String(chosen),
        "aria-label": `${row.kind}: ${row.op} ${row.before ?? row.after}, in ${row.symbol}; ${words(row)}`,
      },
      row.labels.length > 0 && h("span", { role: "gridcell", class: "rp-label-name" }, row.labels.map((name) => `${name}: `)),
      cell(row, 0),
      cell(row, 1),
      h("span", { role: "gridcell", class: "rp-symbol" }, row.first ? symbolLink(row.symbol, { tabindex: -1 }) : ""),
    );
  }

  function list() {
    const held = grid.contains(document.activeElement);
    shown = folded(rows, open);
    focused = Math.max(0, Math.min(focused, shown.length - 1));
    let symbol = "";
    for (const row of shown) {
      if (row.fold === undefined) row.first = row.symbol !== symbol;
      symbol = row.symbol ?? "";
    }
    grid.replaceChildren(
      h(
        "div",
        { role: "row", class: "rp-row rp-head" },
        [
          ["before, ns", "rp-ns rp-b"],
          [`${panel.values.key}=0`, "rp-code rp-b"],
          ["after, ns", "rp-ns rp-a"],
          [`${panel.values.key}=1`, "rp-code rp-a"],
          ["symbol", "rp-symbol"],
        ].map(([name, look]) => h("span", { role: "columnheader", class: look }, name)),
      ),
      ...shown.map(line),
    );
    if (held) focus();
  }

  const focus = () => grid.querySelector(`[data-at="${focused}"]`)?.focus();

  function go(to) {
    focused = Math.max(0, Math.min(shown.length - 1, to));
    for (const one of grid.querySelectorAll("[data-at]")) one.tabIndex = Number(one.dataset.at) === focused ? 0 : -1;
    focus();
  }

  function act(at) {
    const row = shown[at];
    if (!row) return;
    focused = at;
    if (row.fold !== undefined) {
      if (!open.delete(row.fold)) open.add(row.fold);
    } else select(row.address);
    list();
    focus();
  }

  function select(address) {
    selection = address;
    model.set("selection", address);
    model.save_changes();
    tell();
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = {
      ArrowDown: focused + 1,
      ArrowUp: focused - 1,
      PageDown: focused + PAGE,
      PageUp: focused - PAGE,
      Home: 0,
      End: shown.length - 1,
    }[event.key];
    const other = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; // to the next difference
    if (to !== undefined) go(to);
    else if (other) {
      let at = focused + other;
      while (shown[at] && (shown[at].fold !== undefined || shown[at].kind === "same")) at += other;
      if (shown[at]) go(at);
    } else if (event.key === "Enter" || event.key === " ") act(focused);
    else if (event.key === "Escape") {
      select(-1);
      list();
    } else return;
    event.preventDefault();
  }
  grid.addEventListener("keydown", key);
  grid.addEventListener("click", (event) => {
    const row = event.target.closest("[data-at]");
    if (row && !event.target.closest("a")) act(Number(row.dataset.at));
  });

  // --- the chosen instruction -----------------------------------------------------------------------
  function tell() {
    const row = rows.find((one) => one.address === selection);
    if (!row) return detail.replaceChildren(h("p", { class: "rp-mark" }, "Choose an instruction to see what it costs."));
    const text = row.before === row.after ? row.before : [row.before ?? "absent", row.after ?? "absent"].join(" → ");
    const cells = (of) => SIDES.map((side) => (row[side ? "after" : "before"] === null ? "absent" : ns(of(side))));
    detail.replaceChildren(
      h("p", { class: "rp-selected" }, h("code", null, `${row.op} ${text}`), " in ", symbolLink(row.symbol)),
      table(
        `Address ${row.address}, for one packet`,
        ["for one packet", "before", "after"],
        [
          ["executions", ...cells((side) => visits(side, row.address))],
          ...WHERE.map((name, kind) => [`ns in ${name}`, ...cells((side) => cost(side, row.address, [kind]))]),
        ],
      ),
    );
  }

  function symbolRows() {
    const totals = {};
    for (const row of rows)
      for (const side of SIDES)
        for (const kind of [0, 1]) {
          const x = row[side ? "after" : "before"] === null ? 0 : (cost(side, row.address, [kind]) ?? 0);
          (totals[row.symbol] ??= [0, 0, 0, 0])[2 * kind + side] += x;
        }
    return Object.entries(totals)
      .filter(([, parts]) => Math.max(...parts) >= 0.05)
      .sort((a, b) => Math.max(...b[1]) - Math.max(...a[1]));
  }

  const different = () => rows.filter((row) => row.kind !== "same");

  function draw() {
    list();
    tell();
    const count = (kind) => rows.filter((row) => row.kind === kind).length;
    const kinds = `${panel.values.key}: ${count("removed")} instructions removed, ${count("added")} added, ${count("changed")} changed, ${count("same")} the same.`;
    const m = SIDES.map((side) => results[side]?.metrics[sidecar.metrics[0].name]);
    let text = kinds;
    if (timings[0] && timings[1]) {
      const total = SIDES.map((side) => sum(side, rows));
      const part = SIDES.map((side) => sum(side, different()));
      text +=
        ` For one packet all CPUs spend ${ns(total[0])} ns in them before and ${ns(total[1])} ns after` +
        ` (in those that differ ${ns(part[0])} and ${ns(part[1])} ns).`;
    }
    if (m[0] && settled)
      text += ` ${sidecar.metrics[0].name}: ${interval(m[0])} ${m[0].unit} before, ${interval(m[1])} after, ${change(m[0].mean, m[1].mean)}.`;
    panel.summary.textContent = text;
    const knob = sidecar.knobs.find((k) => k.name === panel.values.key);
    about.textContent = knob.effect === "acts" || !knob.effect ? knob.doc : `${knob.doc} Does nothing here: ${knob.why}`;
    panel.mark.textContent =
      `${runs.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${panel.values.seed} · ` +
      `times of one replication, ${format((trace.until_ps - sidecar.warm_ps) / 1e6)} µs` +
      (settled ? ` · rates of ${results[0].replications}, 95 % intervals` : " · refining");
    panel.numbers.replaceChildren(
      table(
        "Time for one packet by kernel symbol, ns",
        ["symbol", "softirq, before", "softirq, after", "threads, before", "threads, after"],
        symbolRows().map(([name, parts]) => [symbolLink(name), ...parts.map(ns)]),
      ),
      table(
        "Instructions that differ",
        ["instruction", "symbol", "difference", "before, ns", "after, ns"],
        different().map((row) => [
          h("code", null, `${row.op} ${row.before ?? row.after}`),
          row.symbol,
          row.kind,
          row.before === null ? "absent" : ns(cost(0, row.address)),
          row.after === null ? "absent" : ns(cost(1, row.address)),
        ]),
      ),
    );
    panel.settled(settled && Boolean(timings[0] && timings[1]));
  }

  const about = h("p", { class: "rp-mark" });
  const given = Object.entries(sidecar.given).map(([name, value]) => `, ${name}=${JSON.stringify(value)}`);
  const panel = createPanel({
    model,
    el,
    name: "ProgramDiff",
    key: `program-diff-${sidecar.scenario}`,
    title: `Program before and after: ${sidecar.scenario}${given.join("")}`,
    knobs: [
      { name: "key", kind: "choice", choices: Object.keys(sidecar.keys), doc: "The switch that is off before and on after." },
      { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, doc: "First seed of the runs." },
    ],
    call: () => `ProgramDiff("${sidecar.scenario}", "${panel.values.key}", seed=${panel.values.seed}${given.join("")})`,
    moved(changed) {
      if (changed.includes("key")) begin();
      ask();
      draw();
    },
    draw,
    rows: () => [
      ["address", "op", "operands before", "operands after", "symbol", "ns before", "ns after"],
      ...rows.map((r) => [r.address, r.op, r.before, r.after, r.symbol, cost(0, r.address), cost(1, r.address)]),
    ],
    extra: about,
    after: null,
  });
  panel.picture.classList.add("rp-free");
  panel.picture.append(grid);
  panel.picture.after(detail);
  panel.legend.replaceChildren(
    ...[
      ["removed", "− only before"],
      ["added", "+ only after"],
      ["changed", "~ another line or cost"],
    ].map(([kind, label]) => h("li", { class: `rp-row-key rp-${kind}` }, label)),
  );

  function begin() {
    rows = programRows(sidecar, panel.values.key);
    open = new Set();
    focused = 0;
    if (!rows.some((row) => row.address === selection)) selection = -1;
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
