// Means as bars from 0, each with its interval, one below the other on one scale.

import { s } from "./dom.mjs";
import { format, linear, ticks } from "./scales.mjs";

const BAR = 18;
const ROW = 40;

// rows: { label, mean, low, high }, low and high absent until there are replications. words: the text alternative.
export function meters(width, unit, rows, words) {
  const most = Math.max(...rows.map((row) => row.high ?? row.mean));
  const x = linear(0, ticks(most * 1.02 || 1).at(-1), 2, width - 2);
  const height = ROW * rows.length;
  const parts = rows.map((row, at) => {
    const top = ROW * at + 18;
    const whisker =
      row.high !== undefined &&
      s("path", {
        d: `M${x(Math.max(0, row.low))},${top + 3} v12 m0,-6 H${x(row.high)} m0,-6 v12`,
        class: "rp-whisker",
      });
    return [
      s("text", { x: 2, y: top - 5, class: "rp-label" }, `${row.label}: ${format(row.mean)} ${unit}`),
      s("rect", { x: 2, y: top, width: Math.max(0, x(row.mean) - 2), height: BAR, class: "rp-rate" }),
      s("path", { d: `M2,${top} v${BAR}`, class: "rp-axis" }),
      whisker,
    ];
  });
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, parts);
}
