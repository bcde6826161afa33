// The picture of one line's life: a lane for each core, a column for each access, what each cost below.

import { s } from "./dom.mjs";
import { linear } from "./scales.mjs";
import { coreName } from "./stepwords.mjs";

export const LEFT = 78;
export const COLUMN = 26;
const TOP = 44;
const CELL = 24;
const COST = 46;
const KINDS = { read: "r", write: "w", atomic: "a", lock: "l", unlock: "u" };

const text = (x, y, words, more) => s("text", { x, y, ...more }, words);
const middle = (x, y, words, name = "") => text(x, y, words, { "text-anchor": "middle", class: name });

export const fits = (width) => Math.max(4, Math.floor((width - LEFT - 4) / COLUMN));

// What one core has after a step: a letter, a cross where it lost its copy, or a line.
function cell(left, top, state, before, acts) {
  const out = [];
  if (state !== "I") {
    const box = { x: left + 4, y: top + 2, width: COLUMN - 8, height: CELL - 4, class: `rp-state-${state}` };
    out.push(s("rect", box), middle(left + COLUMN / 2, top + 17, state, "rp-inside"));
  } else if (before !== "I") {
    out.push(s("path", { d: `M${left + 8},${top + 7} l10,10 m0,-10 l-10,10`, class: "rp-axis" }));
  } else out.push(s("path", { d: `M${left + 4},${top + CELL / 2} h${COLUMN - 8}`, class: "rp-grid" }));
  if (acts) out.push(s("rect", { x: left + 2, y: top, width: COLUMN - 4, height: CELL, class: "rp-acts" }));
  return out;
}

// The lanes between which the line goes in a step, as pairs; `beyond` stands for caches and memory.
function ways(step, before, cores, beyond, y) {
  const at = (core) => (cores.includes(core) ? y(core) + CELL / 2 : null);
  const to = at(step.core);
  if (step.to >= 0) return [[to, at(step.to)]];
  if (step.giver >= 0) return [[at(step.giver), to]];
  if (step.source > 1) return [[beyond, to]];
  if (step.source !== 1) return [];
  // a copy that several have: the nearest of those drawn stands for them
  const near = (core) => Math.abs(core - step.core);
  const others = cores.filter((core) => core !== step.core && before[core] !== "I").sort((a, b) => near(a) - near(b));
  return others.length ? [[at(others[0]), to]] : [];
}

// `life` as in stepwords.mjs; `from` is the step of the first column, `now` the one in hand, `marked` the reader's, or -1.
export function drawLine({ life, from, now, marked, wrong, width, waitFill, said }) {
  const { steps, cores } = life;
  const shown = steps.slice(from, from + fits(width));
  const x = (at) => LEFT + (at - from) * COLUMN;
  const y = (core) => TOP + cores.indexOf(core) * (CELL + 4);
  const below = TOP + cores.length * (CELL + 4);
  const bottom = below + CELL + (life.timed ? COST : 0);
  const later = (at) => (at > now ? "rp-later" : "");
  const here = (at) => at >= from && at < from + shown.length;
  const parts = [];

  if (here(now)) parts.push(s("rect", { x: x(now), y: 0, width: COLUMN, height: bottom, class: "rp-idle" }));
  parts.push(text(0, 14, "step", { class: "rp-tick" }), text(0, 32, "access", { class: "rp-tick" }));
  for (const core of cores) parts.push(text(0, y(core) + 16, coreName(life, core)));
  parts.push(text(0, below + 15, "beyond", { class: "rp-tick" }));

  shown.forEach((step, i) => {
    const at = from + i;
    const left = x(at);
    const before = at ? steps[at - 1].states : life.begin;
    const head = [
      middle(left + COLUMN / 2, 14, String(at + 1), at === now ? "" : "rp-tick"),
      middle(left + COLUMN / 2, 32, KINDS[step.kind]),
    ];
    const cells = cores.map((core) => cell(left, y(core), step.states[core], before[core], core === step.core));
    const arcs = ways(step, before, cores, below + CELL / 2, y)
      .filter(([a, b]) => a !== null && b !== null)
      .map(([a, b]) =>
        s("path", { d: `M${left},${a} Q${left - 13},${(a + b) / 2} ${left + 3},${b}`, class: "rp-arc" }),
      );
    parts.push(s("g", { class: later(at) }, head, cells, arcs));
  });

  if (life.timed) {
    const most = Math.max(1, ...steps.map((step) => step.took_ps));
    const tall = linear(0, most, 0, COST - 12);
    const base = bottom - 2;
    parts.push(text(0, base - 14, "cost, ns", { class: "rp-tick" }));
    parts.push(text(0, base, `0 to ${Math.round(most / 1000)}`, { class: "rp-tick" }));
    parts.push(s("path", { d: `M${LEFT},${base} H${x(from + shown.length)}`, class: "rp-axis" }));
    shown.forEach((step, i) => {
      const bar = (ps, more) => {
        const height = tall(ps);
        return s("rect", { x: x(from + i) + 6, y: base - height, width: COLUMN - 12, height, ...more });
      };
      const parts_ = [bar(step.took_ps, { class: "rp-rate" })];
      if (tall(step.wait_ps) > 1) parts_.push(bar(step.wait_ps, { fill: waitFill }));
      parts.push(s("g", { class: later(from + i) }, parts_));
    });
  }

  const ring = (at, name) =>
    here(at) && s("rect", { x: x(at) + 1, y: 2, width: COLUMN - 2, height: bottom - 4, class: name });
  parts.push(ring(marked, "rp-marked"), ...wrong.map((at) => ring(at, "rp-wrong")));
  const size = { width, height: bottom + 4, viewBox: `0 0 ${width} ${bottom + 4}` };
  return s("svg", { ...size, role: "img", "aria-label": said }, parts);
}
