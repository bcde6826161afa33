// A struct on its cache lines: move a declaration, and the scenario for which its place matters runs again.

import { h } from "./dom.mjs";
import { createFieldGrid } from "./fieldgrid.mjs";
import { meters } from "./meters.mjs";
import { change } from "./numbers.mjs";
import { createPanel } from "./panel.mjs";
import { movesOf, orderOf, place, shifted } from "./placing.mjs";
import { createRuns } from "./runs.mjs";
import { interval } from "./scales.mjs";
import { readQuery } from "./share.mjs";
import { table } from "./table.mjs";

const SIDES = [0, 1];

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { layouts, uses } = sidecar;
  const symbols = [...new Set(Object.values(uses).flatMap((by) => Object.keys(by)))];
  const shownFirst = sidecar.symbols_shown.join(" and ");
  const touchers = [shownFirst, ...symbols.filter((name) => name !== shownFirst)];
  const of = (name) =>
    Object.fromEntries(layouts[name].fields.map(([field, size, align, comment]) => [field, { size, align, comment }]));
  const names = (name) => layouts[name].fields.map(([field]) => field);
  const placed = (start, order, aligned) => place(order, of(start), aligned, sidecar.line_bytes);
  const base = placed(sidecar.first, names(sidecar.first), layouts[sidecar.first].aligned);
  const initial = { order: [...model.get("order")], aligned: [...model.get("aligned")] };

  const key = `struct-layout-${sidecar.name}`;
  let { order, aligned } = initial;
  let selection = model.get("selection");
  let toucher = shownFirst;
  let all = false;
  let now;
  let results = [null, null];
  let settled = false;

  const who = () => (toucher === shownFirst ? sidecar.symbols_shown : [toucher]);
  const touched = (name) => who().some((symbol) => uses[name]?.[symbol]);
  const words = (name) => {
    const by = Object.entries(uses[name] ?? {}).map(([symbol, kind]) => `${kind} in ${symbol}`);
    const f = now.fields.find((one) => one.name === name);
    return `offset ${f.offset}, ${f.size} bytes, line ${f.line}; ${by.join(", ") || "not touched here"}`;
  };
  const about = (name) => ({ kind: touched(name) ? "touched" : uses[name] ? "used" : "idle", words: words(name) });
  const linesOf = (layout) =>
    [...new Set(layout.fields.filter((f) => touched(f.name)).map((f) => f.line))].sort((a, b) => a - b);
  const list = (lines) => `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ") || "none"}`;
  // Whether the chosen function's fields share a line with the one that others take away, where there is such a one.
  function beside(layout, lines) {
    const [hot, its] = sidecar.hot;
    if (!hot) return "";
    const no = lines.includes(layout.fields.find((f) => f.name === hot).line) ? "" : "not ";
    return lines.length === 1 ? `, ${no}${its},` : `, ${its} ${no}among them,`;
  }

  // --- the fields -----------------------------------------------------------------------------------
  const said = h("p", { class: "rp-mark", role: "status", "aria-live": "polite" });
  const grid = createFieldGrid({
    label: `Fields of ${sidecar.struct_title}`,
    lineBytes: sidecar.line_bytes,
    about,
    lineIn: (next, name) => placed(panel.values.start, next, aligned).fields.find((f) => f.name === name).line,
    changed: (next) => rearrange(next, aligned),
    chosen(name) {
      selection = name;
      model.set("selection", name);
      model.save_changes();
      draw();
    },
    said: (text) => (said.textContent = text),
  });

  function rearrange(nextOrder, nextAligned) {
    const same = nextOrder === order && nextAligned === aligned;
    if (placed(panel.values.start, nextOrder, nextAligned).lines > sidecar.most_lines) {
      said.textContent = `No more than ${sidecar.most_lines} lines can be run.`;
      return draw();
    }
    order = nextOrder;
    aligned = nextAligned;
    model.set("order", order);
    model.set("aligned", aligned);
    panel.remember();
    draw();
    if (!same) ask();
  }

  function begin(itsOrder, itsAligned) {
    if (!itsOrder.includes(selection)) selection = itsOrder[0];
    rearrange(itsOrder, itsAligned);
  }

  const button = (label, act) => h("button", { type: "button", onclick: act }, label);
  const by = (places) => () => grid.move(shifted(order, selection, places));
  const begins = h("input", { type: "checkbox", role: "switch" });
  begins.addEventListener("change", () =>
    rearrange(order, begins.checked ? [...aligned, selection] : aligned.filter((name) => name !== selection)),
  );
  const whole = h("input", { type: "checkbox", role: "switch" });
  whole.addEventListener("change", () => {
    all = whole.checked;
    draw();
  });
  const touches = h(
    "select",
    { onchange: () => ((toucher = touchers[touches.selectedIndex]), draw()) },
    touchers.map((name) => h("option", { value: name }, name)),
  );
  const field = h("p", { class: "rp-selected" });
  const comment = h("p", { class: "rp-mark" });
  const tools = h(
    "div",
    null,
    field,
    comment,
    h(
      "div",
      { class: "rp-actions", role: "group", "aria-label": "Move the chosen field" },
      button("First", by(-Infinity)),
      button("Earlier", by(-1)),
      button("Later", by(1)),
      button("Last", by(Infinity)),
      h("label", { class: "rp-check" }, begins, " begins a line"),
      h("label", { class: "rp-check" }, whole, " all lines"),
      h("label", { class: "rp-check" }, "Touched by ", touches),
    ),
    said,
  );
  const rate = h("div", { class: "rp-meters" });

  // What a link says of the order; the address holds what differs from the layout that it begins with.
  function recall() {
    const query = readQuery(key);
    if (![...query].length) return;
    const { start } = panel.values;
    order = orderOf(names(start), query.get("moves") ?? "");
    const wide = query.get("aligned")?.split(" ").filter((name) => order.includes(name));
    aligned = wide ?? [...layouts[start].aligned];
    if (!order.includes(selection)) selection = order[0];
  }

  // --- the whole ------------------------------------------------------------------------------------
  const seed = { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, doc: "First seed of the runs." };
  const panel = createPanel({
    model,
    el,
    name: "StructLayout",
    title: `${sidecar.struct_title[0].toUpperCase()}${sidecar.struct_title.slice(1)}`,
    knobs: [
      { name: "start", kind: "choice", choices: Object.keys(layouts), doc: "The layout to begin with." },
      seed,
    ],
    key,
    more() {
      const own = layouts[panel.values.start].aligned;
      const moves = movesOf(names(panel.values.start), order);
      const other = [...aligned].sort().join(" ");
      return { ...(moves && { moves }), ...(other !== [...own].sort().join(" ") && { aligned: other }) };
    },
    call() {
      const rest = `order=${JSON.stringify(order)}, aligned=${JSON.stringify(aligned)}`;
      return `StructLayout("${sidecar.name}", "${panel.values.start}", ${rest})`;
    },
    moved(changed) {
      if (changed.includes("start")) begin(names(panel.values.start), [...layouts[panel.values.start].aligned]);
      else {
        draw();
        ask();
      }
    },
    reset: () => begin(initial.order, initial.aligned),
    draw,
    rows: () => [...metricRows().rows, [], ...fieldRows()],
    extra: h("p", { class: "rp-mark" }, sidecar.why),
    after: null,
  });
  panel.picture.classList.add("rp-free");
  panel.picture.before(rate);
  panel.picture.before(tools);
  panel.picture.append(grid.node);
  panel.legend.replaceChildren(
    ...[
      ["touched", "touched by the chosen function"],
      ["used", "touched by others here"],
      ["idle", "not touched"],
    ].map(([kind, label]) => h("li", null, h("span", { class: `rp-key rp-${kind}`, "aria-hidden": "true" }), ` ${label}`)),
  );

  const metric = sidecar.metrics_shown[0];
  const { doc } = sidecar.metrics.find(({ name }) => name === metric);
  function metricRows() {
    const columns = ["metric", "before", "now", "change"];
    if (!results[0]) return { columns, rows: [] };
    const rows = sidecar.metrics_shown.map((name) => {
      const [a, b] = SIDES.map((side) => results[side].metrics[name]);
      return [`${name}, ${a.unit}`, interval(a), interval(b), change(a.mean, b.mean)];
    });
    return { columns, rows };
  }
  const fieldRows = () =>
    now.fields.map((f) => [
      f.name,
      f.offset,
      f.size,
      f.line,
      Object.entries(uses[f.name] ?? {})
        .map(([symbol, kind]) => `${symbol} (${kind})`)
        .join(", "),
    ]);

  function draw() {
    now = placed(panel.values.start, order, aligned);
    grid.draw({ layout: now, order, selection, all, width: panel.width() });
    begins.checked = aligned.includes(selection);
    field.replaceChildren(h("code", null, selection), `: ${words(selection)}`);
    comment.textContent = of(panel.values.start)[selection].comment || layouts[panel.values.start].source;
    const lines = [base, now].map(linesOf);
    const [a, b] = SIDES.map((side) => results[side]?.metrics[metric]);
    const rates = a
      ? ` ${metric}: ${interval(a)} ${a.unit} before, ${interval(b)} now, ${change(a.mean, b.mean)}.`
      : "";
    const [then, here] = [base, now].map((layout, side) => list(lines[side]) + beside(layout, lines[side]));
    const places = `${then} in “${sidecar.first}” and ${here} now`;
    const text = `${who().join(" and ")} ${who().length > 1 ? "touch" : "touches"} ${places}.`;
    el.dataset.lines = JSON.stringify(lines[1]);
    panel.summary.textContent = settled ? text + rates : text;
    if (a) {
      const one = (label, m) => (settled ? { label, ...m } : { label, mean: m.mean });
      rate.replaceChildren(
        h("p", { class: "rp-mark" }, h("code", null, metric), doc && `: ${doc}`),
        meters(Math.min(panel.width(), 560), a.unit, [one(sidecar.first, a), one("now", b)], rates.trim()),
      );
      panel.mark.textContent =
        `${runs.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${panel.values.seed} · ` +
        (settled ? `${results[0].replications} replications, 95 % intervals` : "refining, no interval yet");
    }
    const { columns, rows } = metricRows();
    panel.numbers.replaceChildren(
      table("Before and now: mean and 95 % interval", columns, rows),
      table(`${sidecar.struct_title}, as it is now`, ["field", "offset", "bytes", "line", "touched by"], fieldRows()),
    );
    panel.settled(settled);
  }

  const knobLines = (layout) => {
    const line = Object.fromEntries(layout.fields.map((f) => [f.name, f.line]));
    const out = { [`${sidecar.struct} lines`]: layout.lines };
    for (const name of sidecar.knob_fields) out[`${sidecar.struct}.${name}`] = line[name] ?? 0;
    return out;
  };
  const runs = createRuns({
    model,
    sidecar,
    sides: (values, side) => ({ ...sidecar.given, ...knobLines(side ? values.now : base) }),
    show(next, done) {
      results = next;
      settled = done;
      draw();
      panel.drawn({ arms: next, done });
    },
    failed(reason, before) {
      if (before) el.dispatchEvent(new CustomEvent("rp-failed", { detail: reason }));
      panel.summary.textContent = `No result for this layout: ${reason}.`;
    },
  });
  function ask() {
    settled = false;
    panel.settled(false);
    runs.ask({ now, seed: panel.values.seed });
  }
  for (const name of ["order", "aligned"]) {
    model.on(`change:${name}`, () => {
      const next = model.get(name);
      const mine = name === "order" ? order : aligned;
      if (JSON.stringify(next) === JSON.stringify(mine)) return;
      if (name === "order") order = [...next];
      else aligned = [...next];
      draw();
      ask();
    });
  }
  model.on("change:selection", () => {
    if (model.get("selection") === selection || !order.includes(model.get("selection"))) return;
    selection = model.get("selection");
    draw();
  });
  if (model.host === "page") recall();
  panel.start();
  ask();
  return () => {
    panel.close();
    runs.close();
  };
}

export default { render };
