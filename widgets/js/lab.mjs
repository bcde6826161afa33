// The receive-path lab: move a switch, and both arms of a patch run again, here or in a kernel.

import { drawArm } from "./chart.mjs";
import { palette as makePalette } from "./colours.mjs";
import { control, parse } from "./controls.mjs";
import { h, onWidth, s, uid } from "./dom.mjs";
import { ARMS, NAMES, change, createNumbers } from "./numbers.mjs";
import { createRuns } from "./runs.mjs";
import { read } from "./reported.mjs";
import { format, interval, ticks } from "./scales.mjs";
import { command, copy, csv, download, readAddress, writeAddress } from "./share.mjs";

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const arm = model.get("arm");
  const onPage = model.host === "page";
  const knobs = sidecar.knobs.filter((k) => k.name !== arm);
  const seedKnob = { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, default: 1 };
  const begin = Object.fromEntries([...knobs, seedKnob].map((k) => [k.name, model.get(k.name) ?? k.default]));
  const all = [...knobs, seedKnob];
  const addressed = all.map((k) => ({ ...k, default: begin[k.name] }));
  // A thread's scenario has a patch; the lab has switches.
  const sides = ARMS.map((side) =>
    sidecar.reported.length ? `${NAMES[side]} the patch` : `With ${arm} ${side ? "on" : "off"}`,
  );
  const usual = sidecar.knobs.find((k) => k.name === arm).default;
  const roles = sidecar.roles.map((r) => r.name);
  const colours = makePalette(sidecar.symbols, sidecar.layers, sidecar.layer_order, uid("fill"));
  const tables = createNumbers(sidecar, arm, colours);
  const values = { ...begin };
  if (onPage) Object.assign(values, readAddress(sidecar.scenario, addressed));

  const summary = h("p", { class: "rp-summary", role: "status", "aria-live": "polite" });
  const mark = h("p", { class: "rp-mark" });
  const said = h("span", { class: "rp-said", role: "status" });
  const pictures = ARMS.map(() => h("div", { class: "rp-picture" }));
  const evidence = ARMS.map(() => h("div", { class: "rp-evidence" }));
  const numbers = h("div", { class: "rp-numbers" });
  const commandText = h("code", { class: "rp-command" });
  let results = [null, null];
  let width = 320;
  let settled = false;

  // --- controls -------------------------------------------------------------------------------------
  const controls = {};
  const acts = knobs.filter((k) => k.effect === "acts" || k.effect === undefined);
  const inSight = (model.get("first") ?? []).map((name) => acts.find((k) => k.name === name)).filter(Boolean);
  const inert = knobs.filter((k) => !acts.includes(k));
  for (const k of all) controls[k.name] = control(k, (value) => move({ [k.name]: value }), begin[k.name]);
  const group = (title, list, open) =>
    list.length > 0 &&
    h(
      "details",
      { class: "rp-more", open },
      h("summary", null, title),
      h(
        "div",
        { class: "rp-controls" },
        list.map((k) => controls[k.name].node),
      ),
    );

  function move(changes) {
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) {
      controls[name].set(values[name]);
      model.set(name, values[name]);
    }
    if (onPage) writeAddress(sidecar.scenario, addressed, values);
    said.textContent = "";
    runs.ask(values);
  }

  const defaults = () => Object.fromEntries(all.map((k) => [k.name, k.default]));
  const settings = (sidecar.thread_settings ?? []).map((setting) =>
    h(
      "button",
      { type: "button", class: "rp-setting", onclick: () => move({ ...defaults(), ...without(setting.knobs) }) },
      setting.label,
    ),
  );
  const without = (set) => Object.fromEntries(Object.entries(set).filter(([name]) => name in controls));

  // --- what is shown --------------------------------------------------------------------------------
  // The rate of an arm: the metric that was asked for, or that of the kind of socket, or the scenario's first.
  function rate(side) {
    const { knob, metrics } = sidecar.headlines ?? {};
    const own = metrics?.[results[side].knobs[knob]];
    const name = model.get("headline") || own?.name || sidecar.metrics[0].name;
    const metric = results[side].metrics[name];
    return { name, ...metric, unit: own?.name === name ? own.unit : metric.unit };
  }

  // Reported figures that were stated for the knobs as they are now.
  function reportedFor(side) {
    return (sidecar.reported ?? []).filter((row) =>
      knobs.concat({ name: arm }).every((k) => {
        const now = results[side].knobs[k.name];
        const then = row.knobs?.[k.name] ?? k.default;
        return k.name === arm ? row.knobs?.[arm] === side : String(now) === String(then);
      }),
    );
  }

  // A figure as it is read from both arms; undefined if it compares other settings than these two.
  function simulated(row, side) {
    const now = read(row.reading, results[side]);
    if (!row.before) return now;
    const there = Object.entries({ ...row.knobs, ...row.before });
    const other = there.every(([name, value]) => String(results[1 - side].knobs[name]) === String(value))
      ? read(row.reading, results[1 - side])
      : 0;
    return other ? 100 * (now / other - 1) : undefined;
  }

  const words = (side) => {
    const r = results[side];
    const top = roles.map((role) => {
      const first = Object.entries(r.profile[role]).sort((a, b) => b[1] - a[1])[0];
      return `${role} busy ${format(r.cpu[role])} %${first ? `, most in ${first[0]} (${format(first[1])} %)` : ""}`;
    });
    const m = rate(side);
    return `${sides[side]}: ${interval(m)} ${m.unit}; ${top.join("; ")}.`;
  };

  function draw() {
    if (!results[0] || !results[1]) return;
    const reported = ARMS.map(reportedFor);
    const both = ARMS.map(rate);
    const rates = reported.map((rows) => rows.filter((row) => row.metric === both[0].name));
    const most = Math.max(
      ...both.map(({ high, mean }) => (results[0].replications > 1 ? high : mean)),
      ...rates.flat().map((row) => row.reported),
    );
    const high = ticks(most * 1.02).at(-1);
    for (const side of ARMS) {
      const one = { result: results[side], reported: rates[side], words: words(side) };
      pictures[side].replaceChildren(drawArm(one, width, high, both[side], roles, colours));
      evidence[side].replaceChildren(...proofs(reported[side], side));
    }
    mark.textContent =
      `${runs.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${values.seed} · ` +
      (settled ? `${results[0].replications} replications, 95 % intervals` : "refining, no interval yet");
    el.dataset.settled = settled;
    // What was said of the run before keeps its room, so that nothing jumps, but not its words.
    for (const part of [summary, numbers]) part.classList.toggle("rp-waits", !settled);
    if (!settled) return;
    numbers.replaceChildren(...tables.both(results));
    commandText.textContent = commands();
    const metrics = results.map((r) => JSON.stringify(r.metrics));
    const alike = metrics[0] === metrics[1] ? `: ${arm} makes no difference to these settings` : "";
    summary.textContent = `${words(0)} ${words(1)} Change: ${change(both[0].mean, both[1].mean)}${alike}.`;
  }

  // What a number rests on, opened with one click or key.
  function proofs(rows, side) {
    const plain = rows.filter((row) => row.kind !== "profile");
    const profile = rows.filter((row) => row.kind === "profile");
    return [
      plain.map((row) => proof(row, side)),
      profile.length > 0 &&
        h(
          "details",
          { class: "rp-more" },
          h("summary", null, `${profile.length} reported shares of the profile`),
          profile.map((row) => proof(row, side)),
        ),
    ]
      .flat()
      .filter(Boolean);
  }

  function proof(row, side) {
    const now = simulated(row, side);
    return h(
      "details",
      { class: `rp-proof rp-role-${row.role}` },
      h(
        "summary",
        null,
        `${row.figure}: reported ${format(row.reported)} ${row.unit}`,
        now === undefined ? "" : `, here ${format(now)}`,
        " ",
        h("span", { class: "rp-role" }, row.role),
      ),
      h("p", null, h("a", { href: row.url }, row.source.replace(`, ${row.url}`, ""))),
      row.note ? h("p", null, row.note) : "",
    );
  }

  // --- what leaves ----------------------------------------------------------------------------------
  const commands = () =>
    ARMS.map((side) =>
      command(sidecar.scenario, sidecar.knobs, { ...values, [arm]: side }, values.seed, model.get("replications")),
    ).join("\n");

  const button = (label, onclick) => h("button", { type: "button", onclick }, label);
  const actions = h(
    "div",
    { class: "rp-actions" },
    button("Reset", () => move({ ...begin })),
    button("Copy as a command", async () => {
      said.textContent = (await copy(commands())) ? "Copied." : "The browser refused: copy the command below.";
      shown.open = true;
    }),
    button(
      "Download CSV",
      () => results[0] && download(`${sidecar.scenario}.csv`, "text/csv", csv(tables.csvRows(results, values))),
    ),
    said,
  );
  const shown = h(
    "details",
    { class: "rp-more" },
    h("summary", null, "The same run as a command"),
    h("pre", { tabindex: "0" }, commandText),
  );

  // --- the whole ------------------------------------------------------------------------------------
  const title = uid("title");
  el.classList.add("rp");
  el.append(
    h(
      "section",
      { class: "rp-lab", "aria-labelledby": title },
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" }, colours.defs(sidecar.symbols)),
      h("p", { id: title, class: "rp-title" }, `Receive-path lab: ${sidecar.scenario}, `, h("code", null, arm)),
      settings.length > 0 &&
        h(
          "div",
          { class: "rp-settings", role: "group", "aria-label": "Settings of the thread" },
          "As in the thread:",
          settings,
        ),
      h(
        "div",
        { class: "rp-controls" },
        inSight.map((k) => controls[k.name].node),
      ),
      group("More switches, and the seed", [...acts.filter((k) => !inSight.includes(k)), seedKnob]),
      group("Switches that do nothing here, and why", inert),
      h(
        "div",
        { class: "rp-arms" },
        ARMS.map((side) =>
          h(
            "div",
            { class: "rp-arm" },
            h(
              "p",
              { class: "rp-arm-title" },
              `${NAMES[side]} `,
              h("code", null, `${arm}=${side}`),
              side === usual && ", the default",
            ),
            pictures[side],
            evidence[side],
          ),
        ),
      ),
      h(
        "ul",
        { class: "rp-legend", "aria-label": "Layers of the receive path" },
        colours.layers.map((name) => h("li", null, colours.swatch(colours.example(name)), " ", name)),
      ),
      summary,
      mark,
      actions,
      shown,
      h("details", { class: "rp-more", open: true }, h("summary", null, "All numbers"), numbers),
    ),
  );

  const runs = createRuns({
    model,
    sidecar,
    arm,
    show(next, done) {
      results = next;
      settled = done;
      draw();
      el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail: { arms: next, done } }));
    },
    failed(reason, before) {
      if (before) el.dispatchEvent(new CustomEvent("rp-failed", { detail: reason }));
      summary.classList.remove("rp-waits");
      summary.textContent = `No result for these knobs: ${reason}.`;
    },
  });
  for (const k of all) {
    controls[k.name].set(values[k.name]);
    model.on(`change:${k.name}`, () => {
      const value = parse(k, model.get(k.name));
      if (value === undefined || String(value) === String(values[k.name])) return;
      values[k.name] = value;
      controls[k.name].set(value);
      runs.ask(values);
    });
  }
  const unwatch = onWidth(pictures[0], (w) => {
    width = w;
    draw();
  });
  runs.ask(values);
  return () => {
    unwatch();
    runs.close();
  };
}

export default { render };
