// Formulas as trees, evaluated and written as sim/exercises/formula.py does it; a test holds both equal.

const APPLY = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  floor: Math.floor,
  ceil: Math.ceil,
  min: Math.min,
  max: Math.max,
};
const SIGNS = { "+": " + ", "-": " − ", "*": " × ", "/": " / " };
const BINDS = { "+": 1, "-": 1, "*": 2, "/": 2 };
const BRACKETS = { floor: "⌊⌋", ceil: "⌈⌉" };

// known: numbers by name.
export function evaluate(tree, known) {
  if (typeof tree === "string") return Number(known[tree]);
  if (!Array.isArray(tree)) return tree;
  const value = APPLY[tree[0]](...tree.slice(1).map((operand) => evaluate(operand, known)));
  if (!Number.isFinite(value)) throw new RangeError(`${text(tree, known)} is no finite number`);
  return value;
}

export function text(tree, known, outside = 0) {
  if (typeof tree === "string") return tree in known ? shown(Number(known[tree])) : tree;
  if (!Array.isArray(tree)) return shown(tree);
  const [operator, ...operands] = tree;
  if (operator in BRACKETS) return BRACKETS[operator][0] + text(operands[0], known) + BRACKETS[operator][1];
  if (!(operator in BINDS)) return `${operator}(${operands.map((one) => text(one, known)).join(", ")})`;
  const binds = BINDS[operator];
  const right = binds + (operator === "-" || operator === "/" ? 1 : 0);
  const written = text(operands[0], known, binds) + SIGNS[operator] + text(operands[1], known, right);
  return binds < outside ? `(${written})` : written;
}

export function shown(value) {
  const size = Math.abs(value);
  const decimals =
    size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : size >= 0.1 ? 4 : size >= 0.01 ? 5 : 6;
  const digits = String(Math.floor(size * 10 ** decimals + 0.5)).padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  const rest = digits.slice(cut).replace(/0+$/, "");
  const grouped = digits.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",") + (rest && `.${rest}`);
  return value < 0 && grouped !== "0" ? `−${grouped}` : grouped;
}

export function amount(value, unit) {
  const number = shown(value);
  const one = number === "1" && unit.length > 3 && unit.endsWith("s") && !unit.includes("/");
  return `${number} ${one ? unit.slice(0, -1) : unit}`.trimEnd();
}
