// The accesses to a line in words. `life` is { steps, begin, cpus, cores, timed, ended, sidecar }; `timed` says whether
// the engine timed them.

import { h } from "./dom.mjs";
import { format } from "./scales.mjs";
import { table } from "./table.mjs";

const SOURCES = ["it was here", "another core gave it", "the socket's shared cache gave it", "memory gave it"];
const ns = (ps) => (ps ? format(ps / 1000) : "0");

export const moved = (step) => step.source === 1 || step.to >= 0;
export const coreName = (life, core) => (life.cpus === life.begin.length ? `CPU ${core}` : `core ${core}`);
const symbol = ({ sidecar }, step) => h("code", null, sidecar.symbols[sidecar.listing[step.pc][2]]);
const us = ({ sidecar }, step) => ((step.time_ps - sidecar.window.start) / 1e6).toFixed(3);

export function cameFrom(life, step) {
  if (step.to >= 0) return `the lock, and with it the line, goes to ${coreName(life, step.to)}, which waits`;
  if (step.rides) return "the core's other thread asked for it before, and this access shares what comes";
  return step.giver >= 0 ? `${coreName(life, step.giver)} gave it` : SOURCES[step.source];
}

export function statesAfter(life, at) {
  const before = at ? life.steps[at - 1].states : life.begin;
  const after = life.steps[at].states;
  return life.cores
    .filter((core) => before[core] !== "I" || after[core] !== "I")
    .map((core) => {
      const change = before[core] === after[core] ? after[core] : `${before[core]} → ${after[core]}`;
      return `${coreName(life, core)} ${change}`;
    })
    .join(", ");
}

export function facts(life, at) {
  const { steps, sidecar, timed } = life;
  const step = steps[at];
  const soFar = steps.slice(0, at + 1);
  const total = (name) => ns(soFar.reduce((sum, one) => sum + one[name], 0));
  const [op, words] = sidecar.listing[step.pc];
  const same = coreName(life, step.core) === `CPU ${step.cpu}`;
  const who = `CPU ${step.cpu}${same ? "" : `, ${coreName(life, step.core)}`}: `;
  const waits = step.wait_ps ? `, of which ${ns(step.wait_ps)} ns waiting for others` : "";
  const cost = timed
    ? `; ${total("took_ps")} ns, of which ${total("wait_ps")} ns waiting: the CPUs' times added up, though they wait together`
    : "";
  const out = [
    ["step", `${at + 1} of ${steps.length}, begun at ${us(life, step)} µs`],
    ["who", [who, h("code", null, `${op.toLowerCase()} ${words}`), " in ", symbol(life, step)]],
    ["line", cameFrom(life, step)],
  ];
  if (timed) out.push(["takes", `${ns(step.took_ps)} ns${waits}`]);
  out.push(["states", statesAfter(life, at)]);
  const seen = life.cores.filter((core) => step.versions?.[core] >= 0);
  if (seen.length)
    out.push(["writes seen", seen.map((core) => `${coreName(life, core)} ${step.versions[core]}`).join(", ")]);
  out.push(["so far", `${soFar.filter(moved).length} hand-overs in ${at + 1} accesses${cost}`]);
  return out;
}

export function summaryWords({ steps, timed, ended, sidecar }) {
  const { start, until } = sidecar.window;
  if (!steps.length) return `Nobody touches the line in ${format((until - start) / 1e6)} µs.`;
  const span = (steps.at(-1).time_ps - steps[0].time_ps) / 1e6;
  const cores = new Set(steps.map((step) => step.core)).size;
  const cost = steps.reduce((all, step) => all + step.took_ps, 0) / steps.length;
  const end = ended === "deadlock" ? " Then nothing happens any more: both sleep, and nobody will wake them." : "";
  return (
    `${steps.length} accesses in ${format(span)} µs by ${cores} cores; ${steps.filter(moved).length} hand-overs` +
    `${timed ? `; ${ns(cost)} ns an access` : ""}.${end}`
  );
}

export function stepTable(life, now) {
  const head = ["step", "µs", "who", "access", "symbol", "where the line comes from", "states afterwards"];
  const costs = life.timed ? ["ns", "waiting, ns"] : [];
  return table(
    `${life.sidecar.title}: every access`,
    [...head, ...costs],
    life.steps.map((step, at) => [
      `${at === now ? "▸ " : ""}${at + 1}`,
      us(life, step),
      `CPU ${step.cpu}`,
      step.kind,
      symbol(life, step),
      cameFrom(life, step),
      statesAfter(life, at),
      ...(life.timed ? [ns(step.took_ps), ns(step.wait_ps)] : []),
    ]),
  );
}
