// Where stepping goes in a trace: the next instruction, packet or CPU, and the packet that is followed.

export function createWalk(trace, tracks, journeys) {
  const c = trace.columns;
  let packet = null; // { birth, holds, ended }

  // Rows that a step may go to: all (null), or those of the packet.
  function rows() {
    if (!packet) return null;
    const out = [];
    for (const hold of packet.holds)
      for (let i = hold.first; i <= hold.last; i++) if (c.context[i] === hold.context) out.push(i);
    return out.sort((a, b) => a - b);
  }

  function follow(birth) {
    packet = birth < 0 ? null : { birth, ...journeys.way(birth) };
    return packet;
  }

  return {
    follow,
    get packet() {
      return packet;
    },
    first: () => rows()?.[0] ?? 0,
    last: () => rows()?.at(-1) ?? tracks.count - 1,
    // The row `by` steps from a row; from none (-1): the first in sight.
    step(row, by, sight) {
      const list = rows();
      if (!list) return row < 0 ? tracks.from(sight) : Math.min(tracks.count - 1, Math.max(0, row + by));
      const at = list.findIndex((i) => i >= row);
      return list[Math.min(list.length - 1, Math.max(0, (at < 0 ? list.length - 1 : at) + by))];
    },
    // The next packet's first row, or undefined.
    birth(row, by) {
      const here = packet ? packet.birth : row;
      return by > 0 ? journeys.births.find((b) => b > here) : journeys.births.findLast((b) => b < here);
    },
    // What a CPU `by` lanes further down does at the time of a row.
    lane(row, by, sight) {
      if (row < 0) return tracks.from(sight);
      const here = tracks.lanes.indexOf(tracks.lane(row));
      const next = tracks.lanes[Math.min(tracks.lanes.length - 1, Math.max(0, here + by))];
      return next ? tracks.at(next, c.time[row]) : row;
    },
  };
}
