// Curves over a number of CPUs on a logarithmic scale, each with a dash and a mark of its own besides its colour.

import { h, s } from "./dom.mjs";
import { format, linear, logarithmic } from "./scales.mjs";

const MARKS = ["M-4,-4 h8 v8 h-8 z", "M0,-5 L5,4 H-5 z", "M0,-5 L5,0 L0,5 L-5,0 z", "M-4,0 h8 M0,-4 v8", "M-4,-4 L4,4 M-4,4 L4,-4"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2"];
const HEIGHT = 300;
const PAD = { left: 52, right: 10, top: 12, bottom: 40 };

// series: { label, points: [[n, value]], measured: [[n, value]], unit, now: value at `at`, peak: n or undefined }.
// at: the number of CPUs that is marked. Returns { node, nearest(event) -> n }.
export function drawCurves({ width, series, numbers, at, axis, words }) {
  const all = series.flatMap((one) => [...one.points, ...one.measured].map((point) => point[1]));
  const low = 10 ** Math.floor(Math.log10(Math.min(...all)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...all)));
  const x = linear(1, numbers.at(-1), PAD.left, width - PAD.right);
  const y = logarithmic(low, high, HEIGHT - PAD.bottom, PAD.top);
  const parts = [];
  for (let v = low; v <= high * 1.01; v *= 10) {
    parts.push(
      s("path", { d: `M${PAD.left},${y(v)} H${width - PAD.right}`, class: "rp-grid" }),
      s("text", { x: PAD.left - 6, y: y(v) + 4, "text-anchor": "end", class: "rp-tick" }, v.toLocaleString("en")),
    );
  }
  let last = -Infinity;
  for (const n of numbers) {
    if (x(n) - last < 20 && n > 1) continue;
    last = x(n);
    const place = { x: x(n), y: HEIGHT - PAD.bottom + 16, "text-anchor": "middle", class: "rp-tick" };
    parts.push(s("text", place, String(n)));
  }
  parts.push(s("text", { x: width / 2, y: HEIGHT - 6, "text-anchor": "middle" }, axis));
  parts.push(s("path", { d: `M${x(at)},${PAD.top} V${HEIGHT - PAD.bottom}`, class: "rp-reported" }));
  series.forEach((one, number) => {
    const line = one.points.map(([n, value]) => `${x(n)},${y(value)}`).join("L");
    parts.push(s("path", { d: `M${line}`, class: `rp-series rp-ink${number}`, "stroke-dasharray": DASHES[number] }));
    for (const [n, value] of one.measured) {
      const dot = s("path", { d: MARKS[number], transform: `translate(${x(n)},${y(value)})`, class: `rp-dot rp-ink${number}` });
      dot.append(s("title", null, `${one.label}, ${n} CPUs, measured: ${format(value)} ${one.unit}`));
      parts.push(dot);
    }
    if (one.peak !== undefined) {
      const peak = s("path", { d: "M-6,-10 h12 l-6,8 z", transform: `translate(${x(one.peak)},${y(one.points.find((p) => p[0] === one.peak)[1])})`, class: `rp-now rp-ink${number}` });
      peak.append(s("title", null, `${one.label}: most with ${one.peak} CPUs`));
      parts.push(peak);
    }
    parts.push(s("circle", { cx: x(at), cy: y(one.now), r: 4, class: `rp-now rp-ink${number}` }));
  });
  const invert = linear(PAD.left, width - PAD.right, 1, numbers.at(-1));
  const node = s("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words }, parts);
  return { node, at: (px) => Math.min(numbers.at(-1), Math.max(1, Math.round(invert(px)))) };
}

export const key = (number, marked, words) =>
  h(
    "li",
    null,
    s(
      "svg",
      { width: 34, height: 12, "aria-hidden": "true" },
      s("path", { d: "M0,6 H34", class: `rp-series rp-ink${number}`, "stroke-dasharray": DASHES[number] }),
      marked && s("path", { d: MARKS[number], transform: "translate(17,6)", class: `rp-dot rp-ink${number}` }),
    ),
    ` ${words}`,
  );
