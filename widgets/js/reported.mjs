// How a figure that a thread reports is read from a result: offset + scale * term * times / over, as in sim/reported.py.

function term(text, result) {
  const [kind, name, symbols] = text.split(":");
  if (kind === "metric") return result.metrics[name].mean;
  if (kind === "rest") return 100 - result.metrics[name].mean;
  if (kind === "cpu") {
    const every = Object.values(result.cpu);
    return name === "*" ? total(every) / every.length : result.cpu[name];
  }
  // Of one CPU's busy time, or of all CPUs' as a profile of the whole system has it.
  const shares = name === "*" ? result.cpu : { [name]: 1 };
  const busy = total(Object.values(shares)) || 1;
  const of = (role) => total(symbols.split("+").map((symbol) => result.profile[role][symbol] ?? 0));
  return total(Object.entries(shares).map(([role, share]) => (share / busy) * of(role)));
}

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

export function read(reading, result) {
  const top = term(reading.term, result) * (reading.times ? term(reading.times, result) : 1);
  const bottom = reading.over ? term(reading.over, result) : 1;
  return reading.offset + (bottom ? (reading.scale * top) / bottom : 0);
}
