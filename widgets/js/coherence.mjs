// The states of a watched line, access by access: `sim/coherence.py` once more, without its faults.

const KINDS = ["read", "write", "atomic"];
const [HERE, CORE] = [0, 1];

const letters = (cores, owner, sharers, dirty) =>
  Array.from({ length: cores }, (_, c) =>
    owner >= 0 ? (c === owner ? (dirty ? "M" : "E") : "I") : (sharers >> BigInt(c)) & 1n ? "S" : "I",
  ).join("");

export const begin = (trace) => letters(trace.cores, trace.owner, trace.atFirst, true);

export function steps(trace, sidecar) {
  const c = trace.columns;
  let [before, dirty] = [begin(trace), true];
  return Array.from(c.time, (time, i) => {
    const op = sidecar.listing[c.pc[i]][0];
    const kind = op === "ACCESS" ? KINDS[sidecar.access[c.pc[i]]] : op.toLowerCase();
    const home = trace.homes[c.context[i]];
    const core = home < 0 ? -1 : home % trace.cores;
    if (kind !== "read") dirty = true;
    else if (c.source[i] !== HERE) dirty = false;
    const states = letters(trace.cores, c.after[i], trace.sharers[i], dirty);
    const rides = c.source[i] === HERE && c.after[i] !== core && (kind !== "read" || before[core] === "I");
    before = states;
    return {
      time_ps: time,
      took_ps: c.took[i],
      wait_ps: c.wait[i],
      core,
      cpu: home,
      kind,
      pc: c.pc[i],
      source: c.source[i],
      giver: c.source[i] === CORE && c.before[i] !== -1 && c.before[i] !== core ? c.before[i] : -1,
      to: kind === "unlock" && c.source[i] === CORE && c.after[i] !== core ? c.after[i] : -1,
      rides,
      states,
    };
  });
}
