// The rows of a comparison: instructions of both settings by address, and equal stretches folded.

const NEAR = 3; // equal instructions that stay in sight on either side of a difference

const expand = (runs) => runs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i));

// A key of a program's sidecar as rows { address, op, symbol, labels, before, after, kind }.
export function programRows(sidecar, key) {
  const one = sidecar.keys[key];
  const [before, after] = one.sides.map((runs) => new Set(expand(runs)));
  return [...new Set([...before, ...after])]
    .sort((a, b) => a - b)
    .map((address) => {
      const [op, symbol, usual] = sidecar.program[address];
      const texts = one.texts[address] ?? [usual, usual];
      const sides = [before, after].map((there, side) => (there.has(address) ? texts[side] : null));
      const kind =
        sides[1] === null ? "removed" : sides[0] === null ? "added" : sides[0] === sides[1] ? "same" : "changed";
      const labels = one.labels[address] ?? sidecar.labels[address] ?? [];
      return { address, op, symbol: sidecar.symbols[symbol], labels, before: sides[0], after: sides[1], kind };
    });
}

// The rows with equal stretches as { from, rows }; `open` holds the first addresses of those unfolded by the reader.
export function folded(rows, open) {
  const near = rows.map(() => false);
  rows.forEach((row, at) => {
    if (row.kind === "same") return;
    for (let k = Math.max(0, at - NEAR); k <= Math.min(rows.length - 1, at + NEAR); k++) near[k] = true;
  });
  const out = [];
  for (let at = 0; at < rows.length; at++) {
    if (near[at]) {
      out.push(rows[at]);
      continue;
    }
    const first = at;
    while (at + 1 < rows.length && !near[at + 1]) at++;
    const stretch = rows.slice(first, at + 1);
    const fold = { fold: stretch[0].address, rows: stretch };
    out.push(fold);
    if (open.has(fold.fold)) out.push(...stretch);
  }
  return out;
}
