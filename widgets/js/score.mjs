// What became of each problem, kept in the browser: solved at the first check, solved later, shown, or only tried.
// A problem counts once, however often the page is read.

const PLACE = "receive-path/practice";
export const FATES = { first: "right at once", later: "right later", shown: "answer shown", tried: "not yet right" };

let kept = null; // one for all figures of a page

function load() {
  if (kept) return kept;
  try {
    kept = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
  } catch {
    kept = {}; // refused, or no JSON: it lives as long as the page
  }
  if (typeof kept !== "object" || Array.isArray(kept) || !kept) kept = {};
  return kept;
}

function save() {
  try {
    localStorage.setItem(PLACE, JSON.stringify(kept));
  } catch {
    // refused: as above
  }
}

export const fateOf = (kind, seed) => load()[kind]?.[seed];

// Notes a check or a look at the answer. What a problem has become, it stays.
export function note(kind, seed, event) {
  const before = fateOf(kind, seed);
  if (before && before !== "tried") return;
  (load()[kind] ??= {})[seed] = { right: before ? "later" : "first", wrong: "tried", shown: "shown" }[event];
  save();
}

export function forget(kinds) {
  for (const kind of kinds) delete load()[kind];
  save();
}

// Numbers of problems by fate, over some kinds.
export function count(kinds) {
  const all = kinds.flatMap((kind) => Object.values(load()[kind] ?? {}));
  return Object.fromEntries(Object.keys(FATES).map((fate) => [fate, all.filter((one) => one === fate).length]));
}
