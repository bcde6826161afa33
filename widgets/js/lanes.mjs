// The picture of a timeline: a lane for each CPU, queue lengths below. What is selected lies over it (lanemarks.mjs).

import { s } from "./dom.mjs";
import { linear, ticks } from "./scales.mjs";

export const LEFT = 92;
export const TOP = 24;
const QUEUE = 40;
const NARROW = 1.5; // px: spans below it are drawn together

const place = (number) => Math.round(number * 100) / 100;
const rect = (x, y, width, height) => `M${place(x)},${place(y)}h${place(width)}v${place(height)}h${place(-width)}z`;
const text = (x, y, words, more) => s("text", { x, y, ...more }, words);

// Times in sight to places.
export const across = (view, width) => linear(view.from, view.to, LEFT, width - 6);
export const laneHeight = (lanes) => (lanes.length > 12 ? 16 : 24);
export const laneTop = (lanes, at) => TOP + at * (laneHeight(lanes) + 4);

// Spans of a lane in a view, narrow neighbours joined: { x, width, row, soft, rows }.
function joined(lane, tracks, columns, x, view, cpus) {
  const out = [];
  let last = null;
  for (let at = tracks.after(lane, view.from); at < lane.spans.length; at++) {
    const row = lane.spans[at];
    if (columns.time[row] >= view.to) break;
    const [a, b] = [x(Math.max(view.from, columns.time[row])), x(Math.min(view.to, tracks.end(row)))];
    const soft = columns.context[row] < cpus;
    if (last && b - a < NARROW && last.narrow && a - last.end < NARROW && last.soft === soft) {
      last.end = b;
      last.rows++;
      if (columns.took[row] > columns.took[last.row]) last.row = row;
      last.narrow = last.end - last.x < 4;
      continue;
    }
    last = { x: a, end: b, row, soft, rows: 1, narrow: b - a < NARROW };
    out.push(last);
  }
  return out;
}

// scene: { trace, tracks, names, colours, roles, queues: [[name, series]], view, width, waitFill }.
export function drawTimeline(scene) {
  const { trace, tracks, names, colours, view, width } = scene;
  const c = trace.columns;
  const x = across(view, width);
  const tall = laneHeight(tracks.lanes);
  const parts = [];
  const bars = new Map();
  const put = (fill, name, d) => {
    const key = `${name} ${fill}`;
    if (!bars.has(key)) bars.set(key, { fill, name, d: [] });
    bars.get(key).d.push(d);
  };

  const span = (view.to - view.from) / 1e6;
  const marks = ticks(span, Math.max(2, Math.floor((width - LEFT) / 90)));
  const step = marks[1] || span;
  const from = (view.from - trace.start) / 1e6;
  const bottom = laneTop(tracks.lanes, tracks.lanes.length) + scene.queues.length * QUEUE;
  for (let us = Math.ceil(from / step - 1e-9) * step; us <= from + span; us += step) {
    const at = x(trace.start + us * 1e6);
    parts.push(s("path", { d: `M${at},${TOP - 6} V${bottom}`, class: "rp-grid" }));
    parts.push(
      text(Math.min(at, width - 26), TOP - 10, Number(us.toPrecision(6)).toString(), {
        "text-anchor": "middle",
        class: "rp-tick",
      }),
    );
  }
  parts.push(text(0, TOP - 10, "µs", { class: "rp-tick" }));

  tracks.lanes.forEach((lane, at) => {
    const top = laneTop(tracks.lanes, at);
    parts.push(s("rect", { x: LEFT, y: top, width: width - 6 - LEFT, height: tall, class: "rp-idle" }));
    const role = scene.roles[lane.cpu];
    parts.push(
      text(0, top + tall / 2 + 4, `CPU ${lane.cpu}${role ? ` ${role}` : ""}`, { class: tall < 20 ? "rp-tick" : "" }),
    );
    for (const one of joined(lane, tracks, c, x, view, trace.cpus)) {
      const [row, wide] = [one.row, one.end - one.x];
      const inset = one.soft ? 0 : tall * 0.25;
      const bar = (from, width_) => rect(from, top + inset, Math.max(0.6, width_), tall - inset);
      put(colours.fill(names.symbol(c.pc[row])), wide > 3 ? "rp-part" : "", bar(one.x, wide));
      if (c.wait[row] <= 0) continue;
      const [from, to] = [Math.max(view.from, c.time[row]), Math.min(view.to, c.time[row] + c.wait[row])];
      if (x(to) - x(from) > 1) put(scene.waitFill, "rp-waits", bar(x(from), x(to) - x(from)));
    }
  });
  // one path for all bars of a fill: a picture of a hundred CPUs has ten thousand bars
  for (const { fill, name, d } of bars.values()) parts.push(s("path", { d: d.join(""), fill, class: name }));

  scene.queues.forEach(([name, series], at) => {
    const base = laneTop(tracks.lanes, tracks.lanes.length) + (at + 1) * QUEUE - 6;
    const most = Math.max(1, ...series.map(([, n]) => n));
    const y = linear(0, most, base, base - QUEUE + 14);
    let now = series[0][1];
    let path = "";
    let last = -1;
    for (const [time, length] of series) {
      if (time > view.to) break;
      const here = place(x(time));
      if (time >= view.from && here !== last) path += ` H${(last = here)}`;
      if (time >= view.from) path += ` V${place(y(length))}`;
      else now = length;
    }
    const d = `M${LEFT},${y(now)}${path} H${width - 6}`;
    parts.push(s("path", { d: `${d} V${base} H${LEFT} z`, class: "rp-queue-area" }));
    parts.push(s("path", { d, class: "rp-series rp-ink0" }));
    parts.push(s("path", { d: `M${LEFT},${base} H${width - 6}`, class: "rp-axis" }));
    const label = name.length > 13 ? `${name.slice(0, 12)}…` : name;
    const words = text(0, base - 10, label, { class: "rp-tick" });
    words.append(s("title", null, name));
    parts.push(words, text(0, base + 3, `at most ${most}`, { class: "rp-tick" }));
  });

  const height = bottom + 8;
  const over = s("g", { class: "rp-over" });
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, parts, over);
  return { svg, over, bottom };
}

// With a hundred CPUs the picture scrolls: brings a lane into sight.
export function revealLane(node, lanes, lane) {
  const at = lanes.indexOf(lane);
  if (at < 0) return;
  const [top, bottom] = [laneTop(lanes, at), laneTop(lanes, at + 1)];
  if (top < node.scrollTop || bottom > node.scrollTop + node.clientHeight) node.scrollTop = top - node.clientHeight / 2;
}
