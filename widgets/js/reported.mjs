// How a figure that a thread reports is read from a result: offset + scale * term / over, as in sim/reported.py.

function term(text, result) {
  const [kind, name, symbols] = text.split(":");
  if (kind === "metric") return result.metrics[name].mean;
  if (kind === "cpu") return result.cpu[name];
  return symbols.split("+").reduce((sum, symbol) => sum + (result.profile[name][symbol] ?? 0), 0);
}

export function read(reading, result) {
  const top = term(reading.term, result);
  const bottom = reading.over ? term(reading.over, result) : 1;
  return reading.offset + (bottom ? (reading.scale * top) / bottom : 0);
}
