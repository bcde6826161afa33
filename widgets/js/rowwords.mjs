// One instruction of a trace in words: what it is, whose line it wanted, who waits.

import { h } from "./dom.mjs";
import { format } from "./scales.mjs";

const SOURCES = ["it was here", "another core gave it", "from the socket's shared cache", "from memory"];

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

// A list of facts about a row, as [term, description].
export function facts(trace, tracks, names, row, packet) {
  const c = trace.columns;
  const out = [
    ["instruction", [h("code", null, names.listing(c.pc[row])), `, address ${c.pc[row]}`]],
    ["charged to", [h("code", null, names.symbol(c.pc[row])), `, ${names.layer(c.pc[row])}`]],
    ["where", `${names.who(c.context[row])}, at ${us(trace, c.time[row])} µs`],
    [
      "takes",
      `${ns(c.took[row])} ns` +
        (c.spin[row]
          ? ", all of it spinning: the lock is held"
          : c.wait[row]
            ? `, of which ${ns(c.wait[row])} ns waiting while others have the line`
            : ""),
    ],
  ];
  if (packet) out.push(["packet", packet]);
  if (c.line[row] >= 0) {
    out.push(["line", names.line(c.line[row])]);
    out.push(["owner", `before: ${owner(names, c.before[row])}; after: ${owner(names, c.after[row])}; ${SOURCES[c.source[row]]}`]);
  }
  if (c.line[row] >= 0 && c.what[row] >= 0) {
    out.push(["lock", names.lock(c.what[row])]);
    if (c.spin[row]) {
      const held = tracks.holder(row);
      out.push(["held by", held < 0 ? "somebody since before the window" : names.who(c.context[held])]);
    }
  }
  if (c.line[row] < 0 && c.what[row] >= 0) {
    const words = wants(trace, names, row);
    out.push(["queue", `${words} afterwards${c.value[row] >= 0 ? `; item ${c.value[row]}` : ""}`]);
  }
  if (c.line[row] >= 0) {
    const waiting = tracks.waiters(row).map((i) => `${names.who(c.context[i])} (${ns(c.wait[i])} ns, ${names.symbol(c.pc[i])})`);
    out.push(["who waits", waiting.length ? [...new Set(waiting)].join("; ") : "nobody"]);
  }
  return out;
}
