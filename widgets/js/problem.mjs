// A problem of a kind: its numbers from its seed, its answer, what is said of a wrong one. sim/exercises/problem.py once
// more; a test holds the two equal. What runs give comes from `measure`, so a problem is known and solved later.

import { below } from "./draw.mjs";
import { amount, evaluate, shown, text } from "./formula.mjs";

const SLIPS = [
  [8, "Are these bits or bytes?"],
  [1000, "A unit is a thousand off."],
  [1e6, "A unit is a million off."],
];

function drawn(given, ...words) {
  if (given.choices) return given.choices[below(given.choices.length, ...words)];
  const { low, high, step } = given;
  return low + step * below(Math.floor((high - low) / step) + 1, ...words);
}

const settings = (run, known) =>
  Object.fromEntries(
    Object.entries(run.knobs).map(([knob, tree]) => {
      if (Array.isArray(tree) && tree.length === 1) return [knob, tree[0]];
      if (typeof known[tree] === "string") return [knob, known[tree]];
      return [knob, Math.trunc(evaluate(tree, known))];
    }),
  );

// The numbers of the text as far as they need no run: [known, whether that is all].
export function begin(kind, seed) {
  const known = {};
  for (const given of kind.givens) known[given.name] = drawn(given, "practice", String(seed), kind.name, given.name);
  for (const step of kind.derived) known[step.name] = evaluate(step.tree, known);
  return [known, !kind.before.length];
}

// measure(run, knobs) -> the metric's mean, later.
export async function follow(runs, known, measure) {
  const out = { ...known };
  for (const run of runs) out[run.name] = (await measure(run, settings(run, out))) * run.scale;
  return out;
}

export async function solve(kind, known, measure) {
  const out = await follow(kind.after, known, measure);
  for (const step of kind.steps) out[step.name] = evaluate(step.tree, out);
  return out;
}

export const answerOf = (kind) => [...kind.after, ...kind.steps].at(-1);

export const question = (kind, known) =>
  kind.text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = known[name];
    return value === undefined ? "…" : typeof value === "string" ? value : shown(value);
  });

export function explanation(kind, solved) {
  return [...kind.after, ...kind.steps].map((step) => {
    const value = amount(solved[step.name], step.unit);
    if (step.scenario) return `${step.words}, by a run: ${value}`;
    const written = text(step.tree, solved);
    return written === shown(solved[step.name]) ? `${step.words}: ${value}` : `${step.words}: ${written} = ${value}`;
  });
}

export function expected(kind) {
  const { unit } = answerOf(kind);
  const how = kind.within
    ? `at most ${shown(kind.within)}${unit === "%" ? " points" : ""} off`
    : kind.within_pct
      ? `within ${shown(kind.within_pct)} % of the right number`
      : "exactly";
  return `Answer${unit && ` in ${unit}`}, ${how}.${kind.after.length ? " A run of the engine gives it." : ""}`;
}

export function check(kind, solved, answer) {
  if (!Number.isFinite(answer)) return { right: false, message: "This is no number." };
  const { name, unit } = answerOf(kind);
  const truth = solved[name];
  const near = (a, b) => Math.abs(a - b) <= (kind.within || (kind.within_pct / 100) * Math.abs(b)) + 1e-9;
  if (near(answer, truth)) return { right: true, message: `Right: ${amount(truth, unit)}.` };
  for (const trap of kind.traps) {
    const value = evaluate(trap.tree, solved);
    if (near(answer, value) && !near(truth, value)) return { right: false, message: `Not yet. ${trap.hint}` };
  }
  if (unit === "%" && answer && near(answer * 100, truth))
    return { right: false, message: "Not yet. That is a fraction; the answer is in percent." };
  const side = answer > truth ? "too high" : "too low";
  for (const [factor, words] of kind.within ? [] : SLIPS.slice(kind.bits ? 0 : 1))
    if (near(answer * factor, truth) || near(answer / factor, truth))
      return { right: false, message: `Not yet: ${side}. ${words}` };
  return { right: false, message: `Not yet: ${side}.` };
}
