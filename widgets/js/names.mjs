// What the numbers of a trace stand for: `sim/places.py` once more.

export function createNames(sidecar, trace) {
  const { sets, places } = sidecar;
  const number = (x) => (typeof x === "number" ? x : trace.values[x.row]);
  const perRow = (lines) => number(lines.per_row);
  const row = (of, at) => (number(of.count) === 1 ? of.name : `${of.name}[${at}]`);
  const find = (list, place) => list.findLast((one) => trace.first[one.at] <= place);

  function line(place) {
    const lines = find(sets.lines, place);
    const at = (place - trace.first[lines.at]) / places.line.words;
    const [which, within] = [Math.floor(at / perRow(lines)), at % perRow(lines)];
    const fields = Object.keys(lines.fields).filter((name) => number(lines.fields[name]) === within);
    return `${row(lines, which)}${perRow(lines) > 1 ? ` line ${within}` : ""}: ${fields.join(", ")}`;
  }
  const of = (list, words) => (place) => {
    const one = find(list, place);
    return row(one, (place - trace.first[one.at]) / words);
  };
  const symbol = (pc) => sidecar.symbols[sidecar.listing[pc][2]];

  return {
    line,
    lock: of(sets.locks, places.lock.words),
    queue: of(sets.queues, places.queue.words),
    // The queue's name without its row.
    queueName: (place) => find(sets.queues, place).name,
    symbol,
    op: (pc) => sidecar.listing[pc][0],
    // An instruction as a listing has it.
    listing: (pc) => `${sidecar.listing[pc][0].toLowerCase()} ${sidecar.listing[pc][1]}`.trim(),
    layer: (pc) => sidecar.layers[symbol(pc)],
    // CPU c is a thread of core c modulo the number of cores.
    core: (context) => (trace.homes[context] < 0 ? -1 : trace.homes[context] % trace.cores),
    coreName: (core) => (trace.cpus === trace.cores ? `CPU ${core}` : `core ${core}`),
    who(context) {
      if (context < trace.cpus) return `softirq on CPU ${context}`;
      if (trace.homes[context] >= 0) return `thread on CPU ${trace.homes[context]}`;
      return "the NIC, a sender or a timer";
    },
  };
}
