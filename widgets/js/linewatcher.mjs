// One cache line, access by access: who has it, in which state, who waits, what it has cost so far. With a fault put in,
// the reader steps and marks the step that is wrong.

import { begin as beginOf, steps as stepsOf } from "./coherence.mjs";
import { control, parse } from "./controls.mjs";
import { h, onWidth, s, uid } from "./dom.mjs";
import { onKeys, sign } from "./hands.mjs";
import { waitPattern } from "./hatch.mjs";
import { COLUMN, LEFT, drawLine, fits } from "./linepicture.mjs";
import { createPool } from "./pool.mjs";
import { readQuery, writeAddress } from "./share.mjs";
import { cameFrom, coreName, facts, moved, statesAfter, stepTable, summaryWords } from "./stepwords.mjs";

const STATES = { M: "M, its own and written", E: "E, its own", S: "S, one of several copies", I: "I, no copy" };
const MOST = 12; // cores that are drawn
const PAGE = 8; // steps of a page key
const BEGIN = 7; // the step that is shown first, with those before it
const KEYS =
  "Left and right go a step back and on, up and down to the last and the next hand-over, Page Up and Page Down eight " +
  "steps, Home and End to the first and the last step";

// Cores that take part, in order.
function taking(begin, steps) {
  const held = [...begin].map((letter, core) => (letter === "I" ? -1 : core));
  const used = steps.flatMap((step) => [step.core, step.giver, step.to]);
  const all = new Set([...used, ...held].filter((core) => core >= 0));
  return [...all].slice(0, MOST).sort((a, b) => a - b);
}

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const bug = model.get("bug");
  const answer = model.get("answer"); // { steps, why } with a fault
  const knobs = sidecar.knobs.filter((k) => sidecar.shown.includes(k.name));
  const values = {};
  for (const k of knobs) values[k.name] = model.get("settings")[k.name] ?? k.default;
  const begin = { ...values };
  const onPage = model.host === "page";
  const key = `line-watcher-${model.get("sample")}${bug && `-${bug}`}`;
  const addressed = knobs.map((k) => ({ ...k, default: begin[k.name] }));
  const home = model.get("selection"); // the step that was asked for, or -1
  if (onPage) {
    const query = readQuery(key);
    for (const k of knobs) values[k.name] = parse(k, query.get(k.name) ?? "") ?? values[k.name];
    if (query.has("step")) model.set("selection", Number(query.get("step")) - 1);
  }
  const wait = uid("wait");
  let life = null; // see stepwords.mjs
  let now = -1;
  let marked = model.get("marked");
  let told = false; // whether the answer is shown
  let from = 0;
  let width = 320;
  let ticket = 0;

  const summary = h("p", { class: "rp-summary" });
  const mark = h("p", { class: "rp-mark" });
  const said = h("p", { class: "rp-said", role: "status", "aria-live": "polite" });
  const verdict = h("p", { class: "rp-verdict", role: "status" });
  const chosen = h("dl", { class: "rp-facts" });
  const numbers = h("div", { class: "rp-words" });
  const last = bug
    ? "; Enter marks the step as wrong; Escape takes the mark away."
    : "; Escape goes back to where it began.";
  const picture = h("div", {
    class: "rp-picture rp-line",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "stepper",
    "aria-label": `The accesses to one line: ${sidecar.title}. ${KEYS}${last}`,
  });

  // --- runs -----------------------------------------------------------------------------------------
  const controls = {};
  for (const k of knobs) controls[k.name] = control(k, (value) => move({ [k.name]: value }), begin[k.name]);

  function move(changes) {
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) controls[name].set(values[name]);
    model.set("settings", { ...model.get("settings"), ...changes });
    model.save_changes();
    remember();
    ask();
  }

  function remember() {
    const at = model.get("selection");
    if (onPage) writeAddress(key, addressed, values, at === home || at < 0 ? {} : { step: at + 1 });
  }

  function ask() {
    const replay = model.get("replay");
    if (replay.steps) return take({ ...replay, timed: false, ended: "" });
    el.dataset.settled = "false";
    const { start, until, events } = sidecar.window;
    const window = { start, until, room: events, queues: [], watch: sidecar.watch, events };
    const settings = { ...model.get("settings"), ...values };
    ticket = pool.ask(() => [{ values: settings, seed: model.get("seed"), window }]);
  }

  function heard(message) {
    if (message.kind === "failed" && !life)
      el.dispatchEvent(new CustomEvent("rp-failed", { detail: `the engine did not start (${message.reason})` }));
    if (message.kind !== "sample" || message.ticket !== ticket) return;
    const trace = message.sample;
    const steps = stepsOf(trace, sidecar);
    take({ begin: beginOf(trace), steps, cpus: trace.cpus, timed: true, ended: trace.status });
  }

  function take(next) {
    life = { ...next, sidecar, cores: taking(next.begin, next.steps) };
    const wanted = model.get("selection");
    from = 0;
    go(wanted >= 0 && wanted < life.steps.length ? wanted : first(), false);
    el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail: life }));
  }

  const first = () => (home >= 0 ? home : bug ? 0 : BEGIN);

  function goHome() {
    go(first(), false);
    model.set("selection", home);
    model.save_changes();
    remember();
  }

  // --- stepping -------------------------------------------------------------------------------------
  function go(next, tell = true) {
    const count = life.steps.length;
    const room = fits(width);
    now = Math.min(count - 1, Math.max(0, next));
    if (now < from) from = now;
    if (now >= from + room) from = now - room + 1;
    from = Math.max(0, Math.min(from, count - room));
    if (tell) {
      model.set("selection", now);
      model.save_changes();
      remember();
    }
    draw();
  }

  function handOver(by) {
    let at = now + by;
    while (at > 0 && at < life.steps.length - 1 && !moved(life.steps[at])) at += by;
    go(at);
  }

  // --- finding the fault ----------------------------------------------------------------------------
  function accuse(step) {
    marked = step;
    model.set("marked", marked);
    model.save_changes();
    judge();
    draw();
  }

  function judge() {
    const right = answer.steps?.includes(marked);
    if (marked < 0) verdict.textContent = "";
    else if (right) verdict.textContent = `Step ${marked + 1}: that is it. ${answer.why}`;
    else
      verdict.textContent = `Step ${marked + 1} is as it should be. Compare what every core has before and after each step.`;
  }

  function tellAnswer() {
    told = true;
    verdict.textContent = `Step ${answer.steps.map((n) => n + 1).join(" or ")}. ${answer.why}`;
    go(answer.steps[0]);
  }

  function clear() {
    told = false;
    accuse(-1);
  }

  // --- drawing --------------------------------------------------------------------------------------
  function draw() {
    if (!life) return;
    const { steps } = life;
    picture.replaceChildren();
    chosen.replaceChildren();
    said.textContent = "";
    if (steps.length) {
      const now_ = `${coreName(life, steps[now].core)}, ${steps[now].kind}`;
      const seen = `Steps ${from + 1} to ${Math.min(steps.length, from + fits(width))} of ${steps.length}`;
      const words = `${seen}; now step ${now + 1}: ${now_}; ${statesAfter(life, now)}`;
      const wrong = told ? answer.steps : [];
      picture.append(drawLine({ life, from, now, marked, wrong, width, waitFill: `url(#${wait})`, said: words }));
      chosen.append(...facts(life, now).flatMap(([term, text]) => [h("dt", null, term), h("dd", null, text)]));
      said.textContent = `Step ${now + 1}: ${now_}; ${cameFrom(life, steps[now])}; ${statesAfter(life, now)}.`;
    }
    summary.textContent = summaryWords(life);
    const hash = String(sidecar.engine_hash).slice(0, 12);
    mark.textContent = life.timed
      ? `WebAssembly, in this page · engine ${hash} · seed ${model.get("seed")}`
      : "Accesses: recorded from the engine · states: a small model of the protocol with a fault, without times";
    numbers.replaceChildren(stepTable(life, now));
    el.dataset.settled = "true";
  }

  // --- hands ----------------------------------------------------------------------------------------
  const there = () => Boolean(life?.steps.length);
  const keys = {
    ArrowRight: () => go(now + 1),
    ArrowLeft: () => go(now - 1),
    ArrowDown: () => handOver(1),
    ArrowUp: () => handOver(-1),
    PageDown: () => go(now + PAGE),
    PageUp: () => go(now - PAGE),
    Home: () => go(0),
    End: () => go(life.steps.length - 1),
    Escape: () => (bug ? clear() : goHome()),
  };
  if (bug) keys.Enter = () => accuse(now);
  onKeys(picture, keys, there);
  picture.addEventListener("click", (event) => {
    if (!there()) return;
    const at = from + Math.floor((event.clientX - picture.getBoundingClientRect().left - LEFT) / COLUMN);
    if (at >= from && at < Math.min(life.steps.length, from + fits(width))) go(at);
  });

  const button = (label, words, act) => sign(label, words, () => there() && act());
  const stepping = [
    button("|‹", "First step", () => go(0)),
    button("‹", "Previous step", () => go(now - 1)),
    button("›", "Next step", () => go(now + 1)),
    button("›|", "Last step", () => go(life.steps.length - 1)),
    button("‹ hand-over", "Previous hand-over", () => handOver(-1)),
    button("hand-over ›", "Next hand-over", () => handOver(1)),
  ];
  const judging = [
    button("This step is wrong", "This step is wrong", () => accuse(now)),
    button("Clear", "Clear the mark", clear),
    button("Show the answer", "Show the answer", tellAnswer),
  ];

  // --- the whole ------------------------------------------------------------------------------------
  const letter = (state) => h("span", { class: `rp-letter rp-letter-${state}`, "aria-hidden": "true" }, state);
  const legend = [
    ...Object.entries(STATES).map(([state, words]) => h("li", null, letter(state), ` ${words}`)),
    h("li", null, "framed: who acts, with a letter above: r read, w write, a atomic, l lock, u unlock"),
    h("li", null, "framed and empty: the core's other thread asked first, and the copy counts from there"),
    h("li", null, "crossed: a copy that is lost; arc: a hand-over; hatched: waiting"),
  ];
  const title = uid("title");
  const nodes = knobs.map((k) => controls[k.name].node);
  el.classList.add("rp");
  el.append(
    h(
      "section",
      { class: "rp-lab", "aria-labelledby": title },
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" }, s("defs", null, waitPattern(wait))),
      h("p", { id: title, class: "rp-title" }, `${sidecar.title}: `, h("code", null, sidecar.line)),
      h("p", null, bug ? "One step of this is wrong. Step through it and mark it. " : "", sidecar.about),
      nodes.length > 0 && h("div", { class: "rp-controls" }, nodes),
      h("div", { class: "rp-actions", role: "group", "aria-label": "Stepping" }, stepping, bug ? judging : []),
      verdict,
      picture,
      h("ul", { class: "rp-legend", "aria-label": "States of a copy" }, legend),
      chosen,
      said,
      summary,
      mark,
      nodes.length > 0 &&
        h(
          "div",
          { class: "rp-actions" },
          sign("Reset", "Reset", () => {
            model.set("selection", home);
            move({ ...begin });
          }),
        ),
      h("details", { class: "rp-more" }, h("summary", null, "All steps as a table"), numbers),
    ),
  );
  for (const k of knobs) controls[k.name].set(values[k.name]);
  model.on("change:settings", () => {
    const next = model.get("settings");
    const differs = (k) => parse(k, next[k.name]) !== undefined && String(next[k.name]) !== String(values[k.name]);
    const changed = knobs.filter(differs);
    if (!changed.length) return;
    for (const k of changed) controls[k.name].set((values[k.name] = next[k.name]));
    ask();
  });
  model.on("change:selection", () => {
    const wanted = model.get("selection");
    if (there() && wanted >= 0 && wanted !== now) go(wanted, false);
  });
  model.on("change:marked", () => {
    if (!bug || model.get("marked") === marked) return;
    marked = model.get("marked");
    judge();
    draw();
  });
  const pool = createPool(sidecar, 1, heard);
  const unwatch = onWidth(picture, (w) => {
    width = w;
    // A wider picture shows more of what came before: the same window, whether it was wide at once or became so.
    from = Math.min(from, Math.max(0, now - fits(width) + 1));
    if (there()) go(now, false);
  });
  ask();
  return () => {
    unwatch();
    pool.close();
  };
}

export default { render };
