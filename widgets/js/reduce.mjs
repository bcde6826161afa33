// From an arena to a result: the arithmetic of sim/result.py once more, for pages without Python.
// A test holds the two equal on the same arenas.

// Half-widths of Student's 95 % interval in standard errors, by degrees of freedom.
const T975 = [
  NaN, 12.706204736174698, 4.302652729749462, 3.182446305283708, 2.7764451051977934, 2.570581835636315,
  2.4469118511449786, 2.36462425159278, 2.306004135204166, 2.2621571627409915, 2.2281388519649385,
];
const t975 = (freedom) => T975[freedom] ?? 1.959963984540054 * (1 + (1.959963984540054 ** 2 + 1) / (4 * freedom));

const SECOND = 1e12;

// One replication: plain numbers, ready to be sent to another thread.
export function sample(arena, sidecar) {
  const at = (name) => Number(arena[sidecar.header[name]]);
  const elapsed = at("now") - at("reset_time");
  const stats = {};
  sidecar.stats.forEach((name, i) => (stats[name] = Number(arena[at("at_stat") + i])));
  const symbols = at("symbols");
  const profile = {};
  const cpu = {};
  for (const role of sidecar.roles) {
    const row = at("at_profile") + role.cpu * symbols;
    const shares = (profile[role.name] = {});
    let busy = 0;
    sidecar.symbols.forEach((name, i) => {
      const ps = Number(arena[row + i]);
      busy += ps;
      if (ps) shares[name] = (100 * ps) / elapsed;
    });
    cpu[role.name] = (100 * busy) / elapsed;
  }
  const metrics = {};
  for (const m of sidecar.metrics) {
    const top = m.numerator.reduce((sum, name) => sum + stats[name], 0);
    const bottom = m.denominator === "time" ? elapsed / SECOND : stats[m.denominator];
    metrics[m.name] = bottom ? (m.scale * top) / bottom : 0;
  }
  return { metrics, cpu, profile, elapsed };
}

const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length;

function spread(xs) {
  const middle = mean(xs);
  if (xs.length < 2) return { mean: middle, low: null, high: null };
  const variance = xs.reduce((a, x) => a + (x - middle) ** 2, 0) / (xs.length - 1);
  const half = t975(xs.length - 1) * Math.sqrt(variance / xs.length);
  return { mean: middle, low: middle - half, high: middle + half };
}

// Replications together, in the shape of `python -m sim run --json`.
export function combine(samples, sidecar, about) {
  const metrics = {};
  for (const m of sidecar.metrics) metrics[m.name] = { ...spread(samples.map((x) => x.metrics[m.name])), unit: m.unit };
  const cpu = {};
  const profile = {};
  for (const { name: role } of sidecar.roles) {
    cpu[role] = mean(samples.map((x) => x.cpu[role]));
    const names = new Set(samples.flatMap((x) => Object.keys(x.profile[role])));
    profile[role] = {};
    for (const name of names) profile[role][name] = mean(samples.map((x) => x.profile[role][name] ?? 0));
  }
  return { scenario: sidecar.scenario, engine: sidecar.engine_hash, replications: samples.length, ...about, metrics, cpu, profile };
}
