// Numbers to places, and numbers to text.

export const linear = (low, high, from, to) => (x) => from + ((x - low) / (high - low || 1)) * (to - from);

export function logarithmic(low, high, from, to) {
  const inner = linear(Math.log(low), Math.log(high), from, to);
  return (x) => inner(Math.log(Math.max(x, low)));
}

// Round numbers from 0 to at least `high`, about `count` of them.
export function ticks(high, count = 5) {
  const raw = (high || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const out = [];
  for (let x = 0; x < high + step * 0.999; x += step) out.push(Number(x.toPrecision(12)));
  return out;
}

// Three significant digits at least, no more decimals than they need, thousands apart.
export function format(x) {
  if (!Number.isFinite(x)) return "no value";
  const size = Math.abs(x);
  if (size < 1e-6) return "0";
  if (size < 0.01) return x.toPrecision(2);
  const places = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return x.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
}

// Of what is never negative: an interval is no narrower than what a run resolves, which may reach below 0.
export const interval = ({ mean, low, high }) =>
  mean === 0 && high >= 1e-6 ? `0, below ${format(high)}` : `${format(mean)} (${format(mean > 0 ? Math.max(0, low) : low)} to ${format(high)})`;
