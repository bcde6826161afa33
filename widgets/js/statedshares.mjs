// The shares that a thread states: which of its rows are shares, of whom, and for which settings.

// A row that is the share of some symbols, neither scaled nor a quotient.
const plain = ({ reading }) =>
  reading.term.startsWith("profile:") && !reading.over && !reading.times && reading.scale === 1 && !reading.offset;
const roleOf = (row) => row.reading.term.split(":")[1];

export const nameOf = (row) => row.symbols.join("+");

// A figure of the thread, digit by digit.
export const stated = (x) => x.toLocaleString("en", { maximumFractionDigits: 6 });

// Rows of a role that were stated for the settings of a side.
export const statedFor = (sidecar, role, side) =>
  sidecar.reported.filter(
    (row) =>
      plain(row) &&
      roleOf(row) === role &&
      sidecar.knobs.every((k) => String(row.knobs[k.name] ?? k.default) === String(sidecar.sides[side][k.name])),
  );

// Symbols that the thread states together, each set once.
export function groupsOf(sidecar, role) {
  const rows = sidecar.reported.filter((row) => row.symbols.length > 1 && roleOf(row) === role);
  return [...new Set(rows.map(nameOf))].map((name) => name.split("+"));
}
