// What lies over a timeline's lanes: the selected instruction, where its line came from, the packet that is followed.

import { s } from "./dom.mjs";
import { TOP, across, laneHeight, laneTop } from "./lanes.mjs";

// A packet's way: a bar above and below its lane while it is in somebody's hands, a dashed line while it waits.
function follow({ trace, tracks, view, width, holds }, x, middle, tall) {
  const c = trace.columns;
  const out = [];
  let before = null;
  for (const hold of holds) {
    const [from, to] = [c.time[hold.first], tracks.end(hold.last)];
    const y = middle(hold.first);
    if (before && from > view.from && before.time < view.to) {
      const [a, b] = [x(Math.max(view.from, before.time)), x(Math.min(view.to, from))];
      out.push(s("path", { d: `M${a},${before.y} L${b},${y}`, class: "rp-waiting" }));
    }
    if (to >= view.from && from <= view.to) {
      const [a, b] = [x(Math.max(view.from, from)), x(Math.min(view.to, to))];
      for (const top of [y - tall / 2 - 2, y + tall / 2 - 2])
        out.push(s("rect", { x: a, y: top, width: Math.max(2, b - a), height: 4, class: "rp-follow" }));
    }
    before = { time: to, y };
  }
  return out;
}

// scene as for drawTimeline, with { row, holds }; bottom: where the picture's lanes and queues end.
export function drawMarks(scene, bottom) {
  const { trace, tracks, view, width, row } = scene;
  const c = trace.columns;
  const x = across(view, width);
  const tall = laneHeight(tracks.lanes);
  const lane = (at) => laneTop(tracks.lanes, at) + tall / 2;
  const middle = (at) => lane(tracks.lanes.indexOf(tracks.lane(at)));
  const out = follow(scene, x, middle, tall);
  if (row < 0 || !view.holds(c.time[row])) return out;
  const a = x(c.time[row]);
  out.push(s("path", { d: `M${a},${TOP - 6} V${bottom}`, class: "rp-cursor" }));
  if (!tracks.lane(row)) return out; // the NIC, a sender or a timer: no CPU
  const b = x(Math.min(view.to, tracks.end(row)));
  const y = middle(row);
  const box = { x: a - 1, y: y - tall / 2, width: Math.max(4, b - a + 2), height: tall };
  out.push(s("rect", { ...box, class: "rp-chosen" }));
  const given = c.source[row] === 1 && c.before[row] >= 0;
  const other = given ? tracks.lanes.findIndex((l) => l.cpu % trace.cores === c.before[row]) : -1;
  if (other >= 0 && tracks.lanes[other] !== tracks.lane(row)) {
    const from = lane(other);
    out.push(s("path", { d: `M${a},${from} Q${a - 24},${(from + y) / 2} ${a},${y}`, class: "rp-arc" }));
  }
  return out;
}
