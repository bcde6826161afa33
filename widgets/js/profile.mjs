// Two profiles: side by side, as a difference, or by layer and symbol; with the shares that the thread reports.

import { palette as makePalette } from "./colours.mjs";
import { h, s, uid } from "./dom.mjs";
import { flame } from "./flame.mjs";
import { createOptions } from "./options.mjs";
import { createPanel } from "./panel.mjs";
import { createRuns } from "./runs.mjs";
import { format, interval, linear, ticks } from "./scales.mjs";
import { ALL, differences, estimates } from "./shares.mjs";
import { table } from "./table.mjs";
import { symbolLink } from "./terms.mjs";

const SIDES = [0, 1];
const NAMES = ["before", "after"];
const LEAST = 0.05; // % below which a symbol is left to the table
const NARROW = 560; // px
const BAR = 11;
const NONE = { mean: 0, low: 0, high: 0 };

// A sum's name as long as a row allows; the whole of it is said and stands in the table.
function brief(name) {
  const parts = name.split("+");
  return parts.length > 3 ? `${parts[0]} + ${parts.length - 1} more` : parts.join(" + ");
}
const stated = (x) => x.toLocaleString("en", { maximumFractionDigits: 6 }); // a figure of the thread, digit by digit
const signed = (x) => `${x < 0 ? "−" : "+"}${format(Math.abs(x))}`;

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { fixed } = sidecar;
  const colours = makePalette(sidecar.symbols, sidecar.layers, sidecar.layer_order, uid("fill"));
  const roles = [...sidecar.roles.map((r) => r.name), ALL];
  let selection = model.get("selection");
  let only = ""; // the layer that fills the flame
  let tables = [null, null]; // by side: role -> name -> estimate
  let changes = {}; // role -> name -> estimate
  let cpu = [{}, {}];
  let settled = false;
  let refining = true;

  // --- what the thread reports ----------------------------------------------------------------------
  const plain = ({ reading }) => reading.term.startsWith("profile:") && !reading.over && reading.scale === 1 && !reading.offset;
  const roleOf = (row) => row.reading.term.split(":")[1];
  const reportedFor = (side) =>
    sidecar.reported.filter(
      (row) =>
        plain(row) &&
        roleOf(row) === panel.values.role &&
        sidecar.knobs.every((k) => String(row.knobs[k.name] ?? k.default) === String(sidecar.sides[side][k.name])),
    );
  const groupsOf = (role) => {
    const groups = sidecar.reported.filter((row) => row.symbols.length > 1 && roleOf(row) === role);
    return [...new Set(groups.map((row) => row.symbols.join("+")))].map((name) => name.split("+"));
  };

  // --- the rows -------------------------------------------------------------------------------------
  const share = (side, name) => tables[side]?.[panel.values.role]?.[name];
  const mean = (side, name) => share(side, name)?.mean ?? 0;
  const delta = (name) => changes[panel.values.role]?.[name] ?? { mean: mean(1, name) - mean(0, name) };
  const ORDERS = {
    largest: (name) => -Math.max(mean(0, name), mean(1, name)),
    before: (name) => -mean(0, name),
    after: (name) => -mean(1, name),
    difference: (name) => -Math.abs(delta(name).mean),
  };

  function everyName() {
    const found = new Set(SIDES.flatMap((side) => Object.keys(tables[side]?.[panel.values.role] ?? {})));
    const marked = new Set(SIDES.flatMap((side) => reportedFor(side).map((row) => row.symbols.join("+"))));
    const names = [...found].filter((name) => !name.includes("+") || marked.has(name)); // a sum only where it is reported
    for (const name of marked) if (!found.has(name)) names.push(name);
    const order = ORDERS[panel.values.sort];
    return names.sort((a, b) => (order ? order(a) - order(b) : 0) || (a < b ? -1 : 1));
  }

  const marksOf = (name) => SIDES.map((side) => reportedFor(side).find((row) => row.symbols.join("+") === name));
  const sight = (name) =>
    marksOf(name).some(Boolean) || Math.max(mean(0, name), mean(1, name)) >= LEAST || name === selection;
  const shown = (m) => (m ? (refining ? `${format(m.mean)}` : interval(m)) : "0");
  const words = (name) => {
    const marks = marksOf(name).map((row, side) => row && `${NAMES[side]} reported ${stated(row.reported)}, ${row.role}`);
    const parts = [`${shown(share(0, name))} % before`, `${shown(share(1, name))} % after`, `${signed(delta(name).mean)} points`];
    return `${name}: ${[...parts, ...marks.filter(Boolean)].join(", ")}`;
  };

  const whisker = (x, m, y) =>
    !refining &&
    m.high !== undefined &&
    s("path", { d: `M${x(m.low)},${y + 2} v7 m0,-3.5 H${x(m.high)} m0,-3.5 v7`, class: "rp-thin" });

  function bars(name, width, high) {
    const x = linear(0, high, 1, width - 6);
    const parts = SIDES.map((side) => {
      const m = share(side, name) ?? NONE;
      const y = 2 + side * (BAR + 2);
      const row = marksOf(name)[side];
      const at = row && x(row.reported);
      return [
        s("rect", { x: 1, y, width: Math.max(0, x(m.mean) - 1), height: BAR, class: `rp-side${side}` }),
        m.mean > 0 && whisker(x, m, y),
        row && s("path", { d: `M${at},${y - 1} l5,6.5 l-5,6.5 l-5,-6.5 z`, class: "rp-diamond" }),
      ];
    });
    return s("svg", { width, height: 2 * BAR + 6, "aria-hidden": "true" }, parts);
  }

  function gap(name, width, high) {
    const x = linear(-high, high, 6, width - 6);
    const m = delta(name);
    const [a, b] = [x(0), x(m.mean)];
    return s(
      "svg",
      { width, height: BAR + 6, "aria-hidden": "true" },
      s("rect", { x: Math.min(a, b), y: 2, width: Math.abs(b - a), height: BAR, class: m.mean < 0 ? "rp-side0" : "rp-side1" }),
      s("path", { d: `M${a},0 V${BAR + 6}`, class: "rp-axis" }),
      whisker(x, m, 2),
    );
  }

  function listRows(width) {
    const names = everyName().filter(sight);
    const isGap = panel.values.view === "difference";
    const most = isGap
      ? Math.max(...names.map((name) => Math.abs(delta(name).mean)), 0.1)
      : Math.max(...names.flatMap((name) => [mean(0, name), mean(1, name), ...marksOf(name).map((row) => row?.reported ?? 0)]));
    const high = isGap ? most * 1.1 : ticks(most * 1.02).at(-1);
    const room = width < NARROW ? width - 16 : width - 380;
    return names.map((name) =>
      h(
        "div",
        { role: "option", class: "rp-share", "data-name": name, "aria-label": words(name), title: words(name) },
        h(
          "span",
          { class: "rp-share-name" },
          colours.swatch(name.split("+").find((one) => sidecar.layers[one]) ?? sidecar.symbols[0]),
          " ",
          h("code", null, brief(name)),
        ),
        isGap ? gap(name, room, high) : bars(name, room, high),
        h(
          "span",
          { class: "rp-share-value" },
          isGap ? `${signed(delta(name).mean)} points` : `${format(mean(0, name))} → ${format(mean(1, name))} %`,
        ),
      ),
    );
  }

  function flames(width) {
    return SIDES.map((side) => {
      const role = panel.values.role;
      const busy = cpu[side][role];
      const title = `${NAMES[side]}: ${role === ALL ? "all CPUs" : role}${busy === undefined ? "" : `, busy ${format(busy)} %`}${only ? `, ${only} only` : ""}`;
      const own = Object.fromEntries(
        Object.entries(tables[side]?.[role] ?? {})
          .filter(([name]) => !name.includes("+"))
          .map(([name, m]) => [name, m.mean]),
      );
      return flame(width, title, own, colours, only, side);
    });
  }

  const box = h("div", { class: "rp-shares", role: "listbox", "aria-label": "Shares of busy time", tabindex: -1 });
  const entry = () => (panel.values.view === "flame" ? (focusedCell ?? `1:${selection}`) : selection);
  let focusedCell = null;
  const options = createOptions(box, {
    chosen(name) {
      focusedCell = panel.values.view === "flame" && name ? name : null;
      const bare = focusedCell ? name.slice(2) : name;
      if (!name) only = "";
      selection = colours.layers.includes(bare) && panel.values.view === "flame" ? selection : bare;
      model.set("selection", selection);
      model.save_changes();
      draw();
    },
    opened(name) {
      if (panel.values.view !== "flame") return;
      const bare = name.slice(2);
      const layer = colours.layers.includes(bare) ? bare : colours.layer(bare);
      only = only ? "" : layer;
      draw();
    },
  });

  // --- the chosen symbol ----------------------------------------------------------------------------
  const detail = h("div", { class: "rp-detail" });
  function tell() {
    if (!selection) return detail.replaceChildren(h("p", { class: "rp-mark" }, "Choose a symbol to see what is known of it."));
    const marks = marksOf(selection);
    detail.replaceChildren(
      h("p", { class: "rp-selected" }, symbolLink(selection), `, ${sidecar.layers[selection] ?? "several symbols"}: `, words(selection).slice(selection.length + 2)),
      ...marks.filter(Boolean).map((row) =>
        h("p", { class: "rp-mark" }, `${row.figure}: ${stated(row.reported)} ${row.unit}, ${row.role}. ${row.note} `, h("a", { href: row.url }, row.source.replace(`, ${row.url}`, ""))),
      ),
    );
  }

  function draw() {
    const held = box.contains(document.activeElement);
    const width = panel.width();
    const { view, role } = panel.values;
    box.replaceChildren(...(view === "flame" ? flames(width) : listRows(width)));
    box.classList.toggle("rp-bare", view === "flame");
    options.refresh(entry(), held);
    tell();
    const top = everyName().filter((name) => !name.includes("+"));
    const largest = (side) =>
      [...top]
        .sort((a, b) => mean(side, b) - mean(side, a))
        .slice(0, 3)
        .map((name) => `${name} ${format(mean(side, name))} %`)
        .join(", ");
    const moved = [...top].sort((a, b) => Math.abs(delta(b).mean) - Math.abs(delta(a).mean))[0];
    const who = role === ALL ? "All CPUs" : `The ${role} CPU`;
    if (tables[0] && tables[1])
      panel.summary.textContent =
        `${who}: before ${largest(0)}; after ${largest(1)}.` +
        (moved ? ` ${moved} changes most, by ${signed(delta(moved).mean)} points.` : "");
    panel.mark.textContent = fixed
      ? `Two results, as given · engine ${String(sidecar.engine_hash).slice(0, 12)}`
      : `${runs.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${panel.values.seed} · ` +
        (refining ? "refining, no interval yet" : `${model.get("replications")} replications, 95 % intervals`);
    panel.numbers.replaceChildren(
      table(
        `% of the busy time of ${role === ALL ? "all CPUs" : role}`,
        ["symbol", "layer", "before", "after", "change, points", "reported before", "reported after"],
        everyName().map((name) => [
          symbolLink(name),
          sidecar.layers[name] ?? "",
          shown(share(0, name)),
          shown(share(1, name)),
          refining || delta(name).low === undefined ? signed(delta(name).mean) : `${signed(delta(name).mean)} (${signed(delta(name).low)} to ${signed(delta(name).high)})`,
          ...marksOf(name).map((row) => (row ? `${stated(row.reported)}, ${row.role}` : "")),
        ]),
      ),
    );
    panel.settled(settled);
  }

  // --- the whole ------------------------------------------------------------------------------------
  const differs = sidecar.knobs.map((k) => k.name).filter((name) => String(sidecar.sides[0][name]) !== String(sidecar.sides[1][name]));
  const usual = Object.fromEntries(sidecar.knobs.map((k) => [k.name, k.default]));
  const changedBy = (side) => Object.fromEntries(Object.entries(sidecar.sides[side]).filter(([name, value]) => differs.includes(name) || String(usual[name]) !== String(value)));
  const setting = (side) => Object.entries(changedBy(side)).map(([name, value]) => `${name} ${value}`).join(", ");
  const choice = (name, choices, doc) => ({ name, kind: "choice", choices, doc });
  const seed = { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, doc: "First seed of the runs." };
  const panel = createPanel({
    model,
    el,
    name: "Profile",
    key: `profile-${sidecar.scenario}`,
    title: `Two profiles: ${sidecar.scenario}`,
    knobs: [
      choice("role", roles, "Whose CPU; * stands for all."),
      choice("view", ["bars", "difference", "flame"], "Side by side, what changes, or by layer."),
      choice("sort", ["largest", "before", "after", "difference", "name"], "Order of the symbols."),
      ...(fixed ? [] : [seed]),
    ],
    call: () => `Profile("${sidecar.scenario}", ${JSON.stringify(changedBy(0))}, ${JSON.stringify(changedBy(1))}, role="${panel.values.role}", view="${panel.values.view}")`,
    moved(changed) {
      focusedCell = null;
      if (changed.includes("seed")) ask();
      draw();
    },
    draw,
    rows: () => [
      ["symbol", "layer", ...NAMES.flatMap((name) => [`${name}, %`, "low", "high"]), "reported before", "reported after"],
      ...everyName().map((name) => [
        name,
        sidecar.layers[name] ?? "",
        ...SIDES.flatMap((side) => [mean(side, name), share(side, name)?.low, share(side, name)?.high]),
        ...marksOf(name).map((row) => row?.reported),
      ]),
    ],
    extra: [
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" }, colours.defs(sidecar.symbols)),
      h("p", { class: "rp-mark" }, `before: ${setting(0) || "defaults"}; after: ${setting(1) || "defaults"}`),
    ],
    after: null,
  });
  panel.picture.classList.add("rp-free");
  panel.picture.append(box);
  panel.picture.after(detail);
  panel.legend.replaceChildren(
    ...NAMES.map((name, side) => h("li", null, s("svg", { width: 14, height: 12, "aria-hidden": "true" }, s("rect", { width: 14, height: 12, class: `rp-side${side}` })), ` ${name}`)),
    h("li", null, s("svg", { width: 12, height: 14, "aria-hidden": "true" }, s("path", { d: "M6,1 l5,6 l-5,6 l-5,-6 z", class: "rp-diamond" })), " reported"),
    ...colours.layers.map((name) => h("li", null, colours.swatch(colours.example(name)), ` ${name}`)),
  );

  function take(arms, sets, extra, done) {
    cpu = arms.map((arm) => arm.cpu);
    const by = (of) => Object.fromEntries(roles.map((role) => [role, of(role)]));
    if (sets) {
      tables = sets.map((set) => by((role) => estimates(set, role, groupsOf(role), sidecar.student_t)));
      changes = by((role) => differences(...sets, role, groupsOf(role), sidecar.student_t));
    } else {
      tables = extra.map((one) => one.shares);
      changes = extra[1].differences;
    }
    refining = !done;
    settled = done;
    draw();
    panel.drawn({ arms, done, shares: tables, differences: changes });
  }

  let runs = null;
  if (!fixed)
    runs = createRuns({
      model,
      sidecar,
      sides: (values, side) => sidecar.sides[side],
      show: (next, done, sets, extra) => take(next, sets, extra, done),
      failed(reason, before) {
        if (before) el.dispatchEvent(new CustomEvent("rp-failed", { detail: reason }));
        panel.summary.textContent = `No profile for these settings: ${reason}.`;
      },
    });
  function ask() {
    settled = false;
    panel.settled(false);
    runs.ask({ seed: panel.values.seed });
  }
  model.on("change:selection", () => {
    if (model.get("selection") === selection) return;
    selection = model.get("selection");
    draw();
  });
  panel.start();
  if (fixed) take(fixed.arms, null, fixed.extra, true);
  else ask();
  return () => {
    panel.close();
    runs?.close();
  };
}

export default { render };
