// Shares of a CPU's busy time with intervals, as sim/shares.py works them out. A test holds the two equal.

import { estimate } from "./reduce.mjs";

export const ALL = "*";
const STEP = 1e-9;

// One sample's shares by symbol: of a role's CPU, or of all CPUs, each with the time that it was busy.
function of(sample, role) {
  if (role !== ALL) return sample.profile[role];
  const busy = Object.values(sample.cpu).reduce((a, b) => a + b, 0) || 1;
  const out = {};
  for (const [name, share] of Object.entries(sample.cpu))
    for (const [symbol, part] of Object.entries(sample.profile[name]))
      out[symbol] = (out[symbol] ?? 0) + (share / busy) * part;
  return out;
}

const sum = (table, group) => group.reduce((total, symbol) => total + (table[symbol] ?? 0), 0);
const names = (tables, groups) => [
  ...[...new Set(tables.flatMap((table) => Object.keys(table)))].sort().map((symbol) => [symbol]),
  ...groups,
];

export function estimates(samples, role, groups, student) {
  const tables = samples.map((one) => of(one, role));
  return Object.fromEntries(
    names(tables, groups).map((group) => [
      group.join("+"),
      estimate(
        tables.map((table) => sum(table, group)),
        STEP,
        student,
      ),
    ]),
  );
}

// What each share changes by, seed by seed.
export function differences(before, after, role, groups, student) {
  const [old, now] = [before, after].map((samples) => samples.map((one) => of(one, role)));
  return Object.fromEntries(
    names([...old, ...now], groups).map((group) => [
      group.join("+"),
      estimate(
        old.map((table, at) => sum(now[at], group) - sum(table, group)),
        STEP,
        student,
      ),
    ]),
  );
}
