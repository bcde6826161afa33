// The picture of one arm: its rate with the interval and the reported figure, then each CPU's time by symbol.

import { s } from "./dom.mjs";
import { format, linear, ticks } from "./scales.mjs";

const LEFT = 4;
const BAR = 26;
const LINE = 16; // a reported figure's label
const LETTER = 6.6; // a digit's width at 12 px, near enough to know whether a label fits

const text = (x, y, words, more) => s("text", { x, y, ...more }, words);

function rate(top, width, metric, replications, reported, high) {
  const x = linear(0, high, LEFT, width - LEFT);
  const head = top + 14;
  top += LINE * reported.length;
  const middle = top + 20 + BAR / 2;
  const axis = top + 20 + BAR;
  const marks = ticks(high, Math.max(2, Math.floor(width / 110))).filter((v) => v <= high);
  const parts = [
    text(LEFT, head, `${format(metric.mean)} ${metric.unit}`, { class: "rp-big" }),
    s("rect", { x: LEFT, y: top + 20, width: Math.max(0, x(metric.mean) - LEFT), height: BAR, class: "rp-rate" }),
    marks.map((v) => [
      s("path", { d: `M${x(v)},${axis} v4`, class: "rp-axis" }),
      text(x(v), axis + 15, format(v).replace(/\.0+$/, ""), {
        class: "rp-tick",
        "text-anchor": v === 0 ? "start" : x(v) > width - 20 ? "end" : "middle",
      }),
    ]),
    s("path", { d: `M${LEFT},${axis} H${width - LEFT}`, class: "rp-axis" }),
  ];
  if (replications > 1) {
    const [a, b] = [x(Math.max(0, metric.low)), x(metric.high)];
    parts.push(
      s("path", { d: `M${a},${middle - 6} v12 M${a},${middle} H${b} M${b},${middle - 6} v12`, class: "rp-whisker" }),
    );
  }
  for (const [number, row] of reported.entries()) {
    const at = x(row.reported);
    const line = head + LINE * (number + 1) - 1;
    parts.push(
      s("path", { d: `M${at},${line} V${axis}`, class: "rp-reported" }),
      s("path", { d: `M${at},${line - 10} l5,6 l-5,6 l-5,-6 z`, class: "rp-diamond" }),
      text(at > width / 2 ? at - 9 : at + 9, line, `reported ${format(row.reported)}, ${row.role}`, {
        class: "rp-note",
        "text-anchor": at > width / 2 ? "end" : "start",
      }),
    );
  }
  return { parts, height: axis + 26 - head + 14 };
}

function stack(top, width, role, share, profile, palette) {
  const x = linear(0, 100, LEFT, width - LEFT);
  const parts = [
    text(LEFT, top + 12, `${role}: busy ${format(share)} %`, { class: "rp-label" }),
    s("rect", { x: LEFT, y: top + 18, width: width - 2 * LEFT, height: BAR, class: "rp-idle" }),
  ];
  let from = 0;
  // The same order in both arms and on all CPUs: neighbours are of one layer, and two bars can be compared.
  for (const layer of palette.layers)
    for (const name of palette.symbols) {
      if (palette.layer(name) !== layer || !profile[name]) continue;
      const value = (profile[name] * share) / 100;
      const [a, b] = [x(from), x(Math.min(100, from + value))];
      from += value;
      if (b - a < 0.5) continue;
      const bar = s("rect", {
        x: a,
        y: top + 18,
        width: b - a,
        height: BAR,
        fill: palette.fill(name),
        class: "rp-part",
      });
      bar.append(s("title", null, `${name}: ${format(profile[name])} % of the time that the ${role} CPU is busy`));
      parts.push(bar);
      const fits = Math.floor((b - a - 8) / LETTER);
      if (fits >= name.length || fits >= 12) {
        const label = fits >= name.length ? name : `${name.slice(0, fits - 1)}…`;
        parts.push(text(a + 4, top + 18 + BAR / 2 + 4, label, { class: "rp-inside" }));
      }
    }
  return { parts, height: 18 + BAR + 12 };
}

// metric: { mean, low, high, unit } of the rate. side: { title, result, reported }. high: where the rate's scale ends, the same for both arms.
export function drawArm(side, width, high, metric, roles, palette) {
  const { result } = side;
  let top = 4;
  const parts = [];
  const put = ({ parts: more, height }) => {
    parts.push(more);
    top += height;
  };
  put(rate(top, width, metric, result.replications, side.reported, high));
  for (const role of roles) put(stack(top, width, role, result.cpu[role], result.profile[role], palette));
  return s(
    "svg",
    { width, height: top, viewBox: `0 0 ${width} ${top}`, role: "img", "aria-label": side.words },
    parts,
  );
}
