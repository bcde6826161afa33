// Two profiles: side by side, as a difference, or by layer and symbol; with the shares that the thread reports.

import { palette as makePalette } from "./colours.mjs";
import { h, s, uid } from "./dom.mjs";
import { flame } from "./flame.mjs";
import { createOptions } from "./options.mjs";
import { createPanel } from "./panel.mjs";
import { createRuns } from "./runs.mjs";
import { format } from "./scales.mjs";
import { shareRows } from "./sharerows.mjs";
import { ALL, differences, estimates } from "./shares.mjs";
import { NAMES, SIDES, shareView } from "./shareview.mjs";
import { groupsOf, stated } from "./statedshares.mjs";
import { table } from "./table.mjs";
import { symbolLink } from "./terms.mjs";

const VIEWS = ["bars", "difference", "flame"];
const SORTS = ["largest", "before", "after", "difference", "name"];

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { fixed } = sidecar;
  const colours = makePalette(sidecar.symbols, sidecar.layers, sidecar.layer_order, uid("fill"));
  // A recording stands beside one role's CPU and says nothing of the others, nor of all.
  const roles = [...sidecar.roles.map((r) => r.name), ...(sidecar.partial ? [] : [ALL])];
  const called = sidecar.names ?? NAMES;
  const isLayer = (name) => colours.layers.includes(name);
  const state = { tables: [null, null], changes: {}, refining: true };
  let view;
  let cpu = [{}, {}];
  let selection = model.get("selection");
  let cell = ""; // the flame's entry that is chosen, as "side:name"
  let only = ""; // the layer that fills the flame

  // --- entries --------------------------------------------------------------------------------------
  const box = h("div", { class: "rp-shares", role: "listbox", "aria-label": "Shares of busy time", tabindex: -1 });
  const detail = h("div", { class: "rp-detail" });
  const isFlame = () => panel.values.view === "flame";
  const options = createOptions(box, {
    chosen(name) {
      cell = isFlame() ? name : "";
      const bare = isFlame() ? name.slice(2) : name;
      if (!name) only = "";
      if (!isLayer(bare)) selection = bare;
      model.set("selection", selection);
      model.save_changes();
      draw();
    },
    opened(name) {
      if (!isFlame()) return;
      const bare = name.slice(2);
      only = only ? "" : isLayer(bare) ? bare : colours.layer(bare);
      draw();
    },
  });

  const whose = () => (panel.values.role === ALL ? "all CPUs" : panel.values.role);

  function flames() {
    return SIDES.map((side) => {
      const busy = cpu[side][panel.values.role];
      const parts = [
        `${called[side]}: ${whose()}`,
        busy !== undefined && `busy ${format(busy)} %`,
        only && `${only} only`,
      ];
      return flame(panel.width(), parts.filter(Boolean).join(", "), view.alone(side), colours, only, side);
    });
  }

  const swatch = (name) =>
    colours.swatch(name.split("+").find((one) => sidecar.layers[one]) ?? sidecar.symbols[0]);

  function tell() {
    if (!selection)
      return detail.replaceChildren(h("p", { class: "rp-mark" }, "Choose a symbol to see what is known of it."));
    const rest = view.words(selection).slice(selection.length + 2);
    const what = sidecar.layers[selection] ?? "several symbols";
    detail.replaceChildren(
      h("p", { class: "rp-selected" }, symbolLink(selection), `, ${what}: ${rest}`),
      ...view
        .marksOf(selection)
        .filter(Boolean)
        .map((row) =>
          h(
            "p",
            { class: "rp-mark" },
            `${row.figure}: ${stated(row.reported)} ${row.unit}, ${row.role}. ${row.note} `,
            h("a", { href: row.url }, row.source.replace(`, ${row.url}`, "")),
          ),
        ),
    );
  }

  function draw() {
    const held = box.contains(document.activeElement);
    const { role, sort } = panel.values;
    view = shareView(sidecar, state, role, sort);
    const isGap = panel.values.view === "difference";
    box.replaceChildren(
      ...(isFlame() ? flames() : shareRows(view, { width: panel.width(), isGap, selection, swatch })),
    );
    box.classList.toggle("rp-bare", isFlame());
    options.refresh(isFlame() ? cell || `1:${selection}` : selection, held);
    tell();
    if (state.tables[0]) panel.summary.textContent = view.finding(role === ALL ? "All CPUs" : `The ${role} CPU`);
    const engine = `engine ${String(sidecar.engine_hash).slice(0, 12)}`;
    const intervals = state.refining
      ? "refining, no interval yet"
      : `${model.get("replications")} replications, 95 % intervals`;
    panel.mark.textContent = fixed
      ? `Two results, as given · ${engine}`
      : `${runs.where()} · ${engine} · seed ${panel.values.seed} · ${intervals}`;
    panel.numbers.replaceChildren(
      table(
        `% of the busy time of ${whose()}`,
        ["symbol", "layer", ...called, "change, points", ...called.map((name) => `reported ${name}`)],
        view.names.map((name) => [
          name.includes("+") ? h("code", null, `sum: ${name.split("+").join(" + ")}`) : symbolLink(name),
          sidecar.layers[name] ?? "",
          view.shown(0, name),
          view.shown(1, name),
          view.shownChange(name),
          ...view.marksOf(name).map((row) => (row ? `${stated(row.reported)}, ${row.role}` : "")),
        ]),
      ),
    );
    panel.settled(!state.refining);
  }

  function rows() {
    const columns = called.flatMap((name) => [`${name}, %`, "low", "high"]);
    return [
      ["symbol", "layer", ...columns, ...called.map((name) => `reported ${name}`)],
      ...view.names.map((name) => [
        name,
        sidecar.layers[name] ?? "",
        ...SIDES.flatMap((side) => [view.mean(side, name), view.share(side, name)?.low, view.share(side, name)?.high]),
        ...view.marksOf(name).map((row) => row?.reported),
      ]),
    ];
  }

  // --- the whole ------------------------------------------------------------------------------------
  const same = (a, b) => String(a) === String(b);
  // Knobs of a side that differ from the other side's or from the scenario's own.
  const setting = (side) =>
    Object.fromEntries(
      sidecar.knobs
        .filter(({ name }) => name in sidecar.sides[side])
        .filter(({ name, default: usual }) => {
          const [mine, other] = [sidecar.sides[side][name], sidecar.sides[1 - side][name]];
          return !same(mine, other) || !same(mine, usual);
        })
        .map(({ name }) => [name, sidecar.sides[side][name]]),
    );
  const said = (side) =>
    sidecar.sources?.[side] ||
    Object.entries(setting(side))
      .map(([name, value]) => `${name} ${value}`)
      .join(", ") || "defaults";
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
      choice("view", VIEWS, "Side by side, what changes, or by layer."),
      choice("sort", SORTS, "Order of the symbols."),
      ...(fixed ? [] : [seed]),
    ],
    call() {
      const sides = SIDES.map((side) => JSON.stringify(setting(side))).join(", ");
      const { role, view: how, sort } = panel.values;
      return `Profile("${sidecar.scenario}", ${sides}, role="${role}", view="${how}", sort="${sort}")`;
    },
    moved(changed) {
      cell = "";
      if (changed.includes("seed")) ask();
      draw();
    },
    draw,
    rows,
    extra: [
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" }, colours.defs(sidecar.symbols)),
      h("p", { class: "rp-mark" }, SIDES.map((side) => `${called[side]}: ${said(side)}`).join("; ")),
    ],
    after: null,
  });
  panel.picture.classList.add("rp-free");
  panel.picture.append(box);
  panel.picture.after(detail);
  const key = (label, ...shape) =>
    h("li", null, s("svg", { width: 14, height: 14, "aria-hidden": "true" }, shape), ` ${label}`);
  panel.legend.replaceChildren(
    ...called.map((name, side) => key(name, s("rect", { width: 14, height: 14, class: `rp-side${side}` }))),
    key("reported", s("path", { d: "M7,1 l5,6 l-5,6 l-5,-6 z", class: "rp-diamond" })),
    h("li", null, "sum: symbols that the thread states together; their own rows count them once more"),
    ...colours.layers.map((name) => h("li", null, colours.swatch(colours.example(name)), ` ${name}`)),
  );

  function take(arms, sets, extra, done) {
    cpu = arms.map((arm) => arm.cpu);
    const by = (of) => Object.fromEntries(roles.map((role) => [role, of(role, groupsOf(sidecar, role))]));
    if (sets) {
      state.tables = sets.map((set) => by((role, groups) => estimates(set, role, groups, sidecar.student_t)));
      state.changes = by((role, groups) => differences(...sets, role, groups, sidecar.student_t));
    } else {
      state.tables = extra.map((one) => one.shares);
      state.changes = extra[1].differences;
    }
    state.refining = !done;
    draw();
    panel.drawn({ arms, done, shares: state.tables, differences: state.changes });
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
    state.refining = true;
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
