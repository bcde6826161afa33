// The picture of one line's life: a lane for each core, a column for each access, what each cost below.

import { s } from "./dom.mjs";
import { linear } from "./scales.mjs";

export const LEFT = 78;
export const COLUMN = 26;
const TOP = 30;
const CELL = 24;
const COST = 46;
const LETTERS = { read: "r", write: "w", atomic: "a", lock: "l", unlock: "u" };

const text = (x, y, words, more) => s("text", { x, y, ...more }, words);
const middle = (more) => ({ "text-anchor": "middle", ...more });

export const fits = (width) => Math.max(4, Math.floor((width - LEFT - 4) / COLUMN));

// scene: { steps, begin, cores, coreName, from, now, marked, wrong, width, hatch, said }. `from` is the first column's step.
export function drawLine(scene) {
  const { steps, cores, from, now, width } = scene;
  const shown = steps.slice(from, from + fits(width));
  const x = (at) => LEFT + (at - from) * COLUMN;
  const y = (core) => TOP + cores.indexOf(core) * (CELL + 4);
  const below = TOP + cores.length * (CELL + 4);
  const bottom = below + CELL + COST;
  const parts = [text(0, TOP - 14, "step", { class: "rp-tick" })];

  if (now >= from && now < from + shown.length)
    parts.push(s("rect", { x: x(now), y: 0, width: COLUMN, height: bottom, class: "rp-idle" }));
  for (const core of cores) parts.push(text(0, y(core) + 16, scene.coreName(core)));
  parts.push(text(0, below + 15, "beyond", { class: "rp-tick" }));

  shown.forEach((step, i) => {
    const at = from + i;
    const before = at ? steps[at - 1].states : scene.begin;
    const left = x(at);
    const faded = at > now ? "rp-later" : "";
    const column = [text(left + COLUMN / 2, TOP - 14, String(at + 1), middle({ class: at === now ? "" : "rp-tick" }))];
    for (const core of cores) {
      const state = step.states[core];
      const acts = core === step.core;
      if (state !== "I")
        column.push(
          s("rect", { x: left + 4, y: y(core) + 2, width: COLUMN - 8, height: CELL - 4, class: `rp-state-${state}` }),
          text(left + COLUMN / 2, y(core) + 17, state, middle({ class: "rp-inside" })),
        );
      else if (before[core] !== "I" && !acts)
        column.push(s("path", { d: `M${left + 8},${y(core) + 7} l10,10 m0,-10 l-10,10`, class: "rp-axis" }));
      else column.push(s("path", { d: `M${left + 4},${y(core) + CELL / 2} h${COLUMN - 8}`, class: "rp-grid" }));
      if (acts) {
        column.push(s("rect", { x: left + 2, y: y(core), width: COLUMN - 4, height: CELL, class: "rp-acts" }));
        column.push(text(left + COLUMN - 3, y(core) + 9, LETTERS[step.kind], middle({ class: "rp-kind" })));
      }
    }
    const to = y(step.core) + CELL / 2;
    const arc = (a, b) => `M${left},${a} Q${left - 13},${(a + b) / 2} ${left + 3},${b}`;
    if (step.giver >= 0 && cores.includes(step.giver)) column.push(s("path", { d: arc(y(step.giver) + CELL / 2, to), class: "rp-arc" }));
    else if (step.source === 1 && step.to < 0) column.push(...sharers(before, step, cores, y, arc, to));
    else if (step.source > 1) column.push(s("path", { d: arc(below + CELL / 2, to), class: "rp-arc" }));
    if (step.to >= 0 && cores.includes(step.to)) column.push(s("path", { d: arc(to, y(step.to) + CELL / 2), class: "rp-arc" }));
    parts.push(s("g", { class: faded }, column));
  });

  const most = Math.max(1, ...steps.map((step) => step.took_ps));
  const tall = linear(0, most, 0, COST - 12);
  const base = bottom - 2;
  parts.push(text(0, base - 14, "cost, ns", { class: "rp-tick" }));
  parts.push(text(0, base, `0 to ${Math.round(most / 1000)}`, { class: "rp-tick" }));
  parts.push(s("path", { d: `M${LEFT},${base} H${x(from + shown.length)}`, class: "rp-axis" }));
  shown.forEach((step, i) => {
    const at = from + i;
    const [whole, waited] = [tall(step.took_ps), tall(step.wait_ps)];
    const bar = { x: x(at) + 6, width: COLUMN - 12 };
    parts.push(s("rect", { ...bar, y: base - whole, height: whole, class: `rp-rate ${at > now ? "rp-later" : ""}` }));
    if (waited > 1) parts.push(s("rect", { ...bar, y: base - waited, height: waited, fill: `url(#${scene.hatch})`, class: at > now ? "rp-later" : "" }));
  });

  const ring = (at, name) =>
    at >= from && at < from + shown.length && parts.push(s("rect", { x: x(at) + 1, y: 2, width: COLUMN - 2, height: bottom - 4, class: name }));
  ring(scene.marked, "rp-marked");
  for (const at of scene.wrong) ring(at, "rp-wrong");
  return s("svg", { width, height: bottom + 4, viewBox: `0 0 ${width} ${bottom + 4}`, role: "img", "aria-label": scene.said }, parts);
}

// A copy that several have: from the nearest of them that is drawn.
function sharers(before, step, cores, y, arc, to) {
  const from = cores.filter((core) => core !== step.core && before[core] !== "I").sort((a, b) => Math.abs(a - step.core) - Math.abs(b - step.core))[0];
  return from === undefined ? [] : [s("path", { d: arc(y(from) + 12, to), class: "rp-arc" })];
}
