// One row of a profile: a bar for each side with its interval and what the thread reports, or one bar for the change.

import { s } from "./dom.mjs";
import { linear } from "./scales.mjs";

const BAR = 11;

function whisker(x, m, y) {
  if (m.low === undefined) return null;
  return s("path", { d: `M${x(m.low)},${y + 2} v7 m0,-3.5 H${x(m.high)} m0,-3.5 v7`, class: "rp-thin" });
}

// shares, marks: before and after; a mark is a reported row or undefined. high: where the scale ends.
export function bars(shares, marks, width, high) {
  const x = linear(0, high, 1, width - 6);
  const parts = shares.map((m, side) => {
    const y = 2 + side * (BAR + 2);
    const at = marks[side] && x(marks[side].reported);
    return [
      s("rect", { x: 1, y, width: Math.max(0, x(m.mean) - 1), height: BAR, class: `rp-side${side}` }),
      m.mean > 0 && whisker(x, m, y),
      marks[side] && s("path", { d: `M${at},${y - 1} l5,6.5 l-5,6.5 l-5,-6.5 z`, class: "rp-diamond" }),
    ];
  });
  return s("svg", { width, height: 2 * BAR + 6, "aria-hidden": "true" }, parts);
}

// A change from the middle: to the left what became less. high: the largest change.
export function gap(change, width, high) {
  const x = linear(-high, high, 6, width - 6);
  const [a, b] = [x(0), x(change.mean)];
  const look = change.mean < 0 ? "rp-side0" : "rp-side1";
  return s(
    "svg",
    { width, height: BAR + 6, "aria-hidden": "true" },
    s("rect", { x: Math.min(a, b), y: 2, width: Math.abs(b - a), height: BAR, class: look }),
    s("path", { d: `M${a},0 V${BAR + 6}`, class: "rp-axis" }),
    whisker(x, change, 2),
  );
}
