// Instructions of a trace in words: what each is, whose line it wanted, who waits. `scene` is the trace with its tracks,
// names and journeys.

import { h } from "./dom.mjs";
import { format } from "./scales.mjs";

const SOURCES = ["it was here", "another core gave it", "from the socket's shared cache", "from memory"];
const MANY = 8; // CPUs that the summary names

export const us = (trace, time) => ((time - trace.start) / 1e6).toFixed(3);
export const ns = (ps) => (ps ? format(ps / 1000) : "0");

const owner = (names, core) => (core < 0 ? "several or none" : names.coreName(core));

// What a row wants: the queue, lock or line, or "".
export function wants(trace, names, row) {
  const c = trace.columns;
  if (c.line[row] >= 0) return c.what[row] >= 0 ? `lock ${names.lock(c.what[row])}` : names.line(c.line[row]);
  if (c.what[row] < 0) return "";
  if (c.to[row] >= 0) return `${names.queue(c.what[row])} to ${names.queue(c.to[row])}: ${c.length[row]}`;
  return `${names.queue(c.what[row])}: ${c.length[row]}`;
}

export function inOneLine({ trace, names }, row) {
  const c = trace.columns;
  const what = `${names.listing(c.pc[row])} in ${names.symbol(c.pc[row])}`;
  return `${us(trace, c.time[row])} µs, ${names.who(c.context[row])}: ${what}, ${ns(c.took[row])} ns`;
}

// What Python reads as `selection`.
export function selectionOf({ trace, names, journeys }, row) {
  const c = trace.columns;
  const birth = journeys.owner(row);
  return {
    row,
    time_ns: (c.time[row] - trace.start) / 1000,
    took_ns: c.took[row] / 1000,
    cpu: trace.homes[c.context[row]],
    instruction: names.listing(c.pc[row]),
    symbol: names.symbol(c.pc[row]),
    packet: birth < 0 ? null : c.item[birth],
  };
}

export function packetWords({ trace, tracks, journeys }, birth) {
  const way = journeys.way(birth);
  const c = trace.columns;
  const to = us(trace, tracks.end(way.holds.at(-1).last));
  const end = way.ended ? `to ${to} µs, where it is given back` : "on; it is still there when the window ends";
  return `number ${c.item[birth]}, from ${us(trace, c.time[birth])} µs ${end}`;
}

function lasts(c, row) {
  if (c.spin[row]) return ", all of it spinning: the lock is held";
  return c.wait[row] ? `, of which ${ns(c.wait[row])} ns waiting while others have the line` : "";
}

function aboutLine({ trace, tracks, names }, row) {
  const c = trace.columns;
  const [before, after] = [c.before[row], c.after[row]].map((core) => owner(names, core));
  const out = [
    ["line", names.line(c.line[row])],
    ["owner", `before: ${before}; after: ${after}; ${SOURCES[c.source[row]]}`],
  ];
  if (c.what[row] >= 0) out.push(["lock", names.lock(c.what[row])]);
  if (c.spin[row]) {
    const held = tracks.holder(row);
    out.push(["held by", held < 0 ? "somebody since before the window" : names.who(c.context[held])]);
  }
  const waiting = tracks
    .waiters(row)
    .map((i) => `${names.who(c.context[i])} (${ns(c.wait[i])} ns, ${names.symbol(c.pc[i])})`);
  out.push(["who waits", waiting.length ? [...new Set(waiting)].join("; ") : "nobody"]);
  return out;
}

// Facts about a row, as [term, description]; `packet` in words, or "".
export function facts(scene, row, packet) {
  const { trace, names } = scene;
  const c = trace.columns;
  const out = [
    ["instruction", [h("code", null, names.listing(c.pc[row])), `, address ${c.pc[row]}`]],
    ["charged to", [h("code", null, names.symbol(c.pc[row])), `, ${names.layer(c.pc[row])}`]],
    ["where", `${names.who(c.context[row])}, at ${us(trace, c.time[row])} µs`],
    ["takes", `${ns(c.took[row])} ns${lasts(c, row)}`],
  ];
  if (packet) out.push(["packet", packet]);
  if (c.line[row] >= 0) out.push(...aboutLine(scene, row));
  else if (c.what[row] >= 0) {
    const item = c.value[row] >= 0 ? `; item ${c.value[row]}` : "";
    out.push(["queue", `${wants(trace, names, row)} afterwards${item}`]);
  }
  return out;
}

// The window in words; `start` is its beginning, µs.
export function summaryWords({ trace, tracks, journeys, sidecar }, start) {
  const from = trace.lost ? trace.columns.time[0] : trace.start;
  const span = trace.end - from;
  const share = (ps) => format((100 * ps) / span);
  const cpus = tracks.lanes.map(({ cpu, busy, waited }) => {
    const role = sidecar.cpu_roles[cpu] ? ` (${sidecar.cpu_roles[cpu]})` : "";
    return `CPU ${cpu}${role} busy ${share(busy)} %${waited ? `, waiting ${share(waited)} %` : ""}`;
  });
  const named = cpus.length > MANY ? [...cpus.slice(0, MANY), `and ${cpus.length - MANY} more CPUs`] : cpus;
  const count = (n) => n.toLocaleString("en");
  const lost = trace.lost
    ? ` A trace keeps ${count(sidecar.room)} instructions: the first ${count(trace.lost)} of the window are lost, and the ` +
      `picture begins ${us(trace, from)} µs into it.`
    : "";
  const ended = ["more", "reached"].includes(trace.status) ? "" : ` The run ended here: ${trace.status}.`;
  return (
    `${format(span / 1e6)} µs from ${start} µs on: ${count(tracks.count)} instructions, ` +
    `${journeys.births.length} packets begin. ${named.join("; ")}.${lost}${ended}`
  );
}
