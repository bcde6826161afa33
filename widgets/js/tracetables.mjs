// A trace as tables: a packet's way, the instructions around one, everything as rows of a file.

import { h } from "./dom.mjs";
import { ns, us, wants } from "./rowwords.mjs";
import { table } from "./table.mjs";

const NEAR = 8; // rows before and after the selected one

// A packet's way with its waits; stretches in one context that follow each other without a queue are one.
// It begins when the wire puts the first frame on the NIC's ring.
export function wayTable({ trace, tracks, names, journeys, sidecar }, packet) {
  const c = trace.columns;
  const queued = (row) =>
    sidecar.marks.gives.includes(c.pc[row]) && c.length[row] >= 0 && names.queueName(c.what[row]) !== "gro_list";
  const stretches = [];
  for (const hold of packet.holds) {
    const last = stretches.at(-1);
    if (last && last.context === hold.context && !queued(last.last)) {
      last.last = hold.last;
      last.pieces++;
    } else stretches.push({ ...hold, pieces: 1 });
  }
  const rows = [];
  const wire = journeys.arrival(packet.birth);
  const born = c.time[packet.birth];
  if (wire >= 0) rows.push([us(trace, c.time[wire]), "waits", names.queue(c.what[wire]), ns(born - c.time[wire])]);
  else rows.push(["", "waits", "on the NIC's ring since before the window", ""]);
  stretches.forEach((one, at) => {
    const [from, to] = [c.time[one.first], tracks.end(one.last)];
    const before = stretches[at - 1];
    if (before) {
      const left = tracks.end(before.last);
      const where = queued(before.last) ? names.queue(c.what[before.last]) : "until somebody takes it";
      rows.push([us(trace, left), "waits", where, ns(Math.max(0, from - left))]);
    }
    const symbols = [...new Set([one.first, one.last].map((row) => names.symbol(c.pc[row])))].join(" to ");
    const times = one.pieces > 1 ? `, ${one.pieces} times` : "";
    rows.push([us(trace, from), names.who(one.context), `${symbols}${times}`, ns(to - from)]);
  });
  const caption = `The way of packet ${c.item[packet.birth]}${packet.ended ? "" : ", as far as the window goes"}`;
  return table(caption, ["µs", "who", "where", "ns"], rows);
}

export function nearTable({ trace, tracks, names }, middle, row) {
  const c = trace.columns;
  const from = Math.max(0, middle - NEAR);
  const rows = [];
  for (let i = from; i < Math.min(tracks.count, from + 2 * NEAR + 1); i++)
    rows.push([
      `${i === row ? "▸ " : ""}${us(trace, c.time[i])}`,
      names.who(c.context[i]),
      h("code", null, names.listing(c.pc[i])),
      h("code", null, names.symbol(c.pc[i])),
      ns(c.took[i]),
      ns(c.wait[i]),
      wants(trace, names, i),
    ]);
  return table(
    "Instructions around the selected one",
    ["µs", "who", "instruction", "symbol", "ns", "waiting, ns", "line, lock or queue"],
    rows,
  );
}

const HEAD =
  "time_ns took_ns waited_ns cpu who instruction symbol packet_register wants owner_before owner_after".split(" ");

export function fileRows({ trace, tracks, names }) {
  const c = trace.columns;
  return [
    HEAD,
    ...Array.from({ length: tracks.count }, (_, i) => [
      (c.time[i] - trace.start) / 1000,
      c.took[i] / 1000,
      c.wait[i] / 1000,
      trace.homes[c.context[i]],
      names.who(c.context[i]),
      names.listing(c.pc[i]),
      names.symbol(c.pc[i]),
      c.item[i],
      wants(trace, names, i),
      c.before[i],
      c.after[i],
    ]),
  ];
}
