// One packet's way through a trace: `sim/journey.py` once more.

export function createJourneys(sidecar, trace) {
  const known = Object.fromEntries(Object.entries(sidecar.marks).map(([name, list]) => [name, new Set(list)]));
  const { pc, item, context, value, length, what } = trace.columns;
  const count = pc.length;

  // Rows with which a packet's life begins, those of packets that are given back at once left out.
  const births = [];
  for (let i = 0; i < count; i++) {
    if (known.births.has(pc[i])) births.push(i);
    else if (known.ends.has(pc[i]) && births.at(-1) === i - 1 && item[i - 1] === item[i]) births.pop();
  }

  // { holds: [{ first, last, context }], ended } for the packet that is born in a row.
  const ways = new Map();
  function way(birth) {
    if (!ways.has(birth)) ways.set(birth, find(birth));
    return ways.get(birth);
  }

  function find(birth) {
    const holding = new Map();
    const holds = [];
    for (let i = birth; i < count; i++) {
      const who = context[i];
      if (item[i] !== item[birth]) {
        holding.delete(who);
        continue;
      }
      if (known.births.has(pc[i]) && i > birth && !holding.has(who)) break;
      if (known.drops.has(pc[i]) || (known.takes.has(pc[i]) && length[i] === 0 && value[i] < 0)) {
        holding.delete(who);
        continue;
      }
      if (!holding.has(who)) {
        if (!known.takes.has(pc[i])) continue;
        holding.set(who, holds.length);
        holds.push({ first: i, last: i, context: who });
      }
      holds[holding.get(who)].last = i;
      if (known.ends.has(pc[i])) return { holds, ended: true };
      if (known.gives.has(pc[i])) holding.delete(who);
    }
    return { holds, ended: false };
  }

  // The packet that a row is about: the last birth of its number whose way holds the row; -1 if there is none.
  function owner(row) {
    for (let at = births.length - 1; at >= 0; at--) {
      if (births[at] > row || item[births[at]] !== item[row]) continue;
      return way(births[at]).holds.some(
        (hold) => hold.context === context[row] && hold.first <= row && row <= hold.last,
      )
        ? births[at]
        : -1;
    }
    return -1;
  }

  // The row in which the wire put a packet's first frame on the ring; -1 if that was before the window.
  function arrival(birth) {
    let polled = birth;
    while (polled >= 0 && !(context[polled] === context[birth] && known.polls.has(pc[polled]))) polled--;
    let at = polled;
    while (at >= 0 && !(known.arrivals.has(pc[at]) && what[at] === what[polled] && value[at] === value[polled])) at--;
    return at;
  }

  return { births, way, owner, arrival };
}
