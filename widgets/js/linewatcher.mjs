// One cache line, access by access: who has it, in which state, who waits, what it has cost so far. With a fault put in,
// the reader steps and marks the step that is wrong.

import { begin as beginOf, steps as stepsOf } from "./coherence.mjs";
import { control, parse } from "./controls.mjs";
import { h, onWidth, s, uid } from "./dom.mjs";
import { COLUMN, LEFT, drawLine, fits } from "./linepicture.mjs";
import { createPool } from "./pool.mjs";
import { format } from "./scales.mjs";
import { table } from "./table.mjs";

const SOURCES = ["it was here", "another core gave it", "the socket's shared cache gave it", "memory gave it"];
const WORDS = { M: "M, its own and written", E: "E, its own", S: "S, one of several copies", I: "I, no copy" };
const MOST = 12; // cores that are drawn
const US = 1e6;

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const bug = model.get("bug");
  const answer = model.get("answer"); // { steps, why } with a fault
  const knobs = sidecar.knobs.filter((k) => sidecar.shown.includes(k.name));
  const values = {};
  for (const k of knobs) values[k.name] = model.get("settings")[k.name] ?? k.default;
  const first = { ...values };
  const hatch = uid("spin");
  let steps = null;
  let begin = "";
  let cpus = 0;
  let cores = [];
  let now = -1;
  let marked = model.get("marked");
  let told = false; // whether the answer stands there
  let from = 0;
  let width = 320;
  let ticket = 0;
  let ended = "";

  const summary = h("p", { class: "rp-summary" });
  const mark = h("p", { class: "rp-mark" });
  const said = h("p", { class: "rp-said", role: "status", "aria-live": "polite" });
  const verdict = h("p", { class: "rp-verdict", role: "status" });
  const picture = h("div", {
    class: "rp-picture rp-line", tabindex: "0", role: "application", "aria-roledescription": "stepper",
    "aria-label": `The accesses to one line: ${sidecar.title}. Left and right go a step back and on, up and down to the last and next ` +
      "hand-over, Page Up and Page Down eight steps, Home and End to the first and last step" +
      (bug ? "; Enter marks the step as wrong; Escape takes the mark away." : "; Escape goes to the first step."),
  });
  const chosen = h("dl", { class: "rp-facts" });
  const numbers = h("div", { class: "rp-words" });

  const controls = {};
  for (const k of knobs) controls[k.name] = control(k, (value) => move({ [k.name]: value }));

  function move(changes) {
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) controls[name].set(values[name]);
    model.set("settings", { ...model.get("settings"), ...changes });
    model.save_changes();
    ask();
  }

  function ask() {
    const replay = model.get("replay");
    if (replay.steps) return take(replay.begin, replay.steps, replay.cpus);
    el.dataset.settled = "false";
    const { start, until, events } = sidecar.window;
    const window = { start, until, room: events, queues: [], watch: sidecar.watch, events };
    ticket = pool.ask(() => [{ values: { ...model.get("settings"), ...values }, seed: model.get("seed"), window }]);
  }

  function heard(message) {
    if (message.kind === "failed" && !steps)
      el.dispatchEvent(new CustomEvent("rp-failed", { detail: `the engine did not start (${message.reason})` }));
    if (message.kind !== "sample" || message.ticket !== ticket) return;
    const trace = message.sample;
    take(beginOf(trace), stepsOf(trace, sidecar), trace.cpus, trace.status);
  }

  function take(states, list, count, status = "") {
    [begin, steps, cpus] = [states, list, count];
    const used = new Set();
    for (const step of steps) for (const core of [step.core, step.to, step.giver]) if (core >= 0) used.add(core);
    const held = [...begin].map((letter, core) => (letter === "I" ? -1 : core)).filter((core) => core >= 0);
    cores = [...new Set([...used, ...held])].slice(0, MOST).sort((a, b) => a - b);
    ended = status === "deadlock" ? " Then nothing happens any more: both sleep, and nobody will wake them." : "";
    const wanted = model.get("selection");
    now = wanted >= 0 && wanted < steps.length ? wanted : Math.min(steps.length - 1, bug ? 0 : 7);
    from = 0;
    go(now, false);
    el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail: { begin, steps } }));
  }

  // --- stepping -------------------------------------------------------------------------------------
  function go(next, tell = true) {
    now = Math.min(steps.length - 1, Math.max(0, next));
    const room = fits(width);
    if (now < from) from = now;
    if (now >= from + room) from = now - room + 1;
    from = Math.max(0, Math.min(from, steps.length - room));
    if (tell) {
      model.set("selection", now);
      model.save_changes();
    }
    draw();
  }

  const moved = (step) => step.source === 1 || step.to >= 0;
  const handOver = (by) => {
    for (let at = now + by; at >= 0 && at < steps.length; at += by) if (moved(steps[at])) return go(at);
    return go(by > 0 ? steps.length - 1 : 0);
  };

  // --- finding the fault ----------------------------------------------------------------------------
  function accuse() {
    marked = now;
    model.set("marked", marked);
    model.save_changes();
    verdict.textContent = answer.steps.includes(marked)
      ? `Step ${marked + 1}: that is it. ${answer.why}`
      : `Step ${marked + 1} is as it should be. Look at what every core has before and after it, and go on.`;
    draw();
  }

  function tellAnswer() {
    told = true;
    verdict.textContent = `Step ${answer.steps.map((n) => n + 1).join(" or ")}. ${answer.why}`;
    go(answer.steps[0]);
  }

  function clear() {
    marked = -1;
    told = false;
    verdict.textContent = "";
    model.set("marked", -1);
    model.save_changes();
    draw();
  }

  // --- drawing --------------------------------------------------------------------------------------
  const coreName = (core) => (cpus === begin.length ? `CPU ${core}` : `core ${core}`);
  const instruction = (step) => `${sidecar.listing[step.pc][0].toLowerCase()} ${sidecar.listing[step.pc][1]}`;
  const symbol = (step) => sidecar.symbols[sidecar.listing[step.pc][2]];

  function cameFrom(step) {
    if (step.to >= 0) return `the lock, and with it the line, goes to ${coreName(step.to)}, which waits`;
    if (step.giver >= 0) return `${coreName(step.giver)} gave it`;
    return SOURCES[step.source];
  }

  function statesAfter(at) {
    const before = at ? steps[at - 1].states : begin;
    const after = steps[at].states;
    const words = cores
      .filter((core) => before[core] !== "I" || after[core] !== "I")
      .map((core) => `${coreName(core)} ${before[core] === after[core] ? after[core] : `${before[core]} → ${after[core]}`}`);
    return words.join(", ");
  }

  function facts(at) {
    const step = steps[at];
    const timed = !model.get("replay").steps;
    const soFar = steps.slice(0, at + 1);
    const total = (name) => soFar.reduce((sum, one) => sum + one[name], 0) / 1000;
    return [
      ["step", `${at + 1} of ${steps.length}, ${((step.time_ps - sidecar.window.start) / US).toFixed(3)} µs`],
      ["who", [`CPU ${step.cpu}: `, h("code", null, instruction(step)), " in ", h("code", null, symbol(step))]],
      ["line", cameFrom(step)],
      ...(timed ? [["takes", `${format(step.took_ps / 1000)} ns${step.wait_ps ? `, of which ${format(step.wait_ps / 1000)} ns waiting for others` : ""}`]] : []),
      ["states", statesAfter(at)],
      ...(step.versions?.length
        ? [["writes seen", cores.filter((core) => step.versions[core] >= 0).map((core) => `${coreName(core)} ${step.versions[core]}`).join(", ")]]
        : []),
      ["so far", `${soFar.filter(moved).length} hand-overs in ${at + 1} accesses` + (timed ? `; ${format(total("took_ps"))} ns, of which ${format(total("wait_ps"))} ns waiting` : "")],
    ];
  }

  function sum() {
    if (!steps.length) return `Nobody touches the line in ${format((sidecar.window.until - sidecar.window.start) / US)} µs.`;
    const n = steps.filter(moved).length;
    const span = (steps.at(-1).time_ps - steps[0].time_ps) / US;
    const cost = steps.reduce((all, step) => all + step.took_ps, 0) / 1000;
    return `${steps.length} accesses in ${format(span)} µs by ${new Set(steps.map((step) => step.core)).size} cores; ${n} hand-overs` +
      (model.get("replay").steps ? "." : `; ${format(cost / steps.length)} ns an access.`) + ended;
  }

  function draw() {
    if (!steps) return;
    const wrong = told ? answer.steps : [];
    if (steps.length) {
      const words = `Steps ${from + 1} to ${Math.min(steps.length, from + fits(width))} of ${steps.length}; now step ${now + 1}: ${coreName(steps[now].core)} ${steps[now].kind}; ${statesAfter(now)}`;
      picture.replaceChildren(drawLine({ steps, begin, cores, coreName, from, now, marked, wrong, width, hatch, said: words }));
      chosen.replaceChildren(...facts(now).flatMap(([term, text]) => [h("dt", null, term), h("dd", null, text)]));
      said.textContent = `Step ${now + 1}: ${coreName(steps[now].core)}, ${steps[now].kind}; ${cameFrom(steps[now])}; ${statesAfter(now)}.`;
    } else {
      picture.replaceChildren();
      chosen.replaceChildren();
    }
    summary.textContent = sum();
    mark.textContent = model.get("replay").steps
      ? "Accesses: recorded from the engine · states: a small model of the protocol with a fault, without times"
      : `WebAssembly, in this page · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${model.get("seed")}`;
    numbers.replaceChildren(
      table(`${sidecar.title}: every access`, ["step", "µs", "CPU", "access", "symbol", "ns", "waiting, ns", "where the line comes from", "states afterwards"],
        steps.map((step, at) => [
          `${at === now ? "▸ " : ""}${at + 1}`, ((step.time_ps - sidecar.window.start) / US).toFixed(3), String(step.cpu), step.kind, h("code", null, symbol(step)),
          format(step.took_ps / 1000), format(step.wait_ps / 1000), cameFrom(step), statesAfter(at),
        ])),
    );
    el.dataset.settled = "true";
  }

  // --- hands ----------------------------------------------------------------------------------------
  const keys = {
    ArrowRight: () => go(now + 1),
    ArrowLeft: () => go(now - 1),
    ArrowDown: () => handOver(1),
    ArrowUp: () => handOver(-1),
    PageDown: () => go(now + 8),
    PageUp: () => go(now - 8),
    Home: () => go(0),
    End: () => go(steps.length - 1),
    Escape: () => (bug ? clear() : go(0)),
    ...(bug ? { Enter: accuse } : {}),
  };
  picture.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || !steps?.length || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  picture.addEventListener("click", (event) => {
    if (!steps?.length) return;
    const at = from + Math.floor((event.clientX - picture.getBoundingClientRect().left - LEFT) / COLUMN);
    if (at >= from && at < Math.min(steps.length, from + fits(width))) go(at);
  });

  const button = (label, words, onclick) =>
    h("button", { type: "button", "aria-label": words, title: words, onclick: () => steps?.length && onclick() }, label);
  const plain = (label, onclick) => h("button", { type: "button", onclick: () => steps?.length && onclick() }, label);
  const actions = h("div", { class: "rp-actions", role: "group", "aria-label": "Stepping" },
    button("|‹", "First step", () => go(0)),
    button("‹", "Previous step", () => go(now - 1)),
    button("›", "Next step", () => go(now + 1)),
    button("›|", "Last step", () => go(steps.length - 1)),
    button("‹ hand-over", "Previous hand-over", () => handOver(-1)),
    button("hand-over ›", "Next hand-over", () => handOver(1)),
    bug ? [plain("This step is wrong", accuse), plain("Clear", clear), plain("Show the answer", tellAnswer)] : [],
  );

  const title = uid("title");
  el.classList.add("rp");
  el.append(
    h("section", { class: "rp-lab", "aria-labelledby": title },
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" },
        s("defs", null, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          s("rect", { width: 6, height: 6, class: "rp-spin-ground" }),
          s("path", { d: "M0,6 L6,0 M-1,1 L1,-1 M5,7 L7,5", class: "rp-spin" })))),
      h("p", { id: title, class: "rp-title" }, `${sidecar.title}: `, h("code", null, sidecar.line)),
      h("p", null, bug ? `One step of this is wrong. Step through it and mark it. ${sidecar.about}` : sidecar.about),
      knobs.length > 0 && h("div", { class: "rp-controls" }, knobs.map((k) => controls[k.name].node)),
      actions,
      verdict,
      picture,
      h("ul", { class: "rp-legend", "aria-label": "States of a copy" },
        Object.entries(WORDS).map(([letter, words]) => h("li", null, h("span", { class: `rp-letter rp-letter-${letter}`, "aria-hidden": "true" }, letter), ` ${words}`)),
        h("li", null, "framed: who acts (r read, w write, a atomic, l lock, u unlock)"),
        h("li", null, "crossed: a copy that is lost; arc: a hand-over; hatched: waiting")),
      chosen,
      said,
      summary,
      mark,
      knobs.length > 0 && h("div", { class: "rp-actions" }, h("button", { type: "button", onclick: () => move({ ...first }) }, "Reset")),
      h("details", { class: "rp-more" }, h("summary", null, "All steps as a table"), numbers)),
  );
  for (const k of knobs) controls[k.name].set(values[k.name]);
  model.on("change:settings", () => {
    const next = model.get("settings");
    const changed = knobs.filter((k) => parse(k, next[k.name]) !== undefined && String(next[k.name]) !== String(values[k.name]));
    if (!changed.length) return;
    for (const k of changed) controls[k.name].set((values[k.name] = next[k.name]));
    ask();
  });
  model.on("change:selection", () => steps?.length && model.get("selection") >= 0 && model.get("selection") !== now && go(model.get("selection"), false));
  model.on("change:marked", () => {
    marked = model.get("marked");
    draw();
  });
  const pool = createPool(sidecar, 1, heard);
  const unwatch = onWidth(picture, (w) => {
    width = w;
    if (steps?.length) go(now, false);
  });
  ask();
  return () => {
    unwatch();
    pool.close();
  };
}

export default { render };
