// What a profile shows of one role: names in their order, shares, changes, what the thread reports, all in words.

import { format, interval } from "./scales.mjs";
import { nameOf, stated, statedFor } from "./statedshares.mjs";

export const SIDES = [0, 1];
export const NAMES = ["before", "after"];

export const signed = (x) => `${x < 0 ? "−" : "+"}${format(Math.abs(x))}`;

// state: { tables, changes, refining }: by side role -> name -> estimate; role -> name -> estimate of the change; and
// whether intervals are still to come. Made anew for every picture.
export function shareView(sidecar, { tables, changes, refining }, role, sort) {
  const called = sidecar.names ?? NAMES;
  const none = { mean: 0 };
  const rows = SIDES.map((side) => tables[side]?.[role] ?? {});
  const marks = SIDES.map((side) => new Map(statedFor(sidecar, role, side).map((row) => [nameOf(row), row])));
  // An interval of few replications may reach beyond what a share can be; it is shown no further.
  const clip = (m) => (m?.low === undefined ? m : { ...m, low: Math.max(0, m.low), high: Math.min(100, m.high) });
  const share = (side, name) => clip(rows[side][name]);
  const mean = (side, name) => (share(side, name) ?? none).mean;
  const delta = (name) => changes[role]?.[name] ?? { mean: mean(1, name) - mean(0, name) };
  const marksOf = (name) => marks.map((of) => of.get(name));
  const orders = {
    largest: (name) => -Math.max(mean(0, name), mean(1, name)),
    before: (name) => -mean(0, name),
    after: (name) => -mean(1, name),
    difference: (name) => -Math.abs(delta(name).mean),
  };
  const order = orders[sort] ?? (() => 0);
  // A sum of symbols stands where it is reported, and a symbol too that did not run.
  const marked = marks.flatMap((of) => [...of.keys()]);
  const symbols = rows.flatMap((of) => Object.keys(of)).filter((name) => !name.includes("+"));
  const names = [...new Set([...symbols, ...marked])].sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
  const shown = (m) => (m ? (refining ? format(m.mean) : interval(m)) : "0");

  function words(name) {
    const parts = SIDES.map((side) => `${shown(share(side, name))} % ${called[side]}`);
    const said = marksOf(name).map(
      (row, side) => row && `${called[side]} reported ${stated(row.reported)}, ${row.role}`,
    );
    return `${name}: ${[...parts, `${signed(delta(name).mean)} points`, ...said.filter(Boolean)].join(", ")}`;
  }

  function finding(who) {
    const alone = names.filter((name) => !name.includes("+"));
    const largest = (side) =>
      [...alone]
        .sort((a, b) => mean(side, b) - mean(side, a))
        .slice(0, 3)
        .map((name) => `${name} ${format(mean(side, name))} %`)
        .join(", ");
    const [moved] = [...alone].sort((a, b) => Math.abs(delta(b).mean) - Math.abs(delta(a).mean));
    const change = moved ? ` ${moved} changes most, by ${signed(delta(moved).mean)} points.` : "";
    return `${who}: ${called[0]} ${largest(0)}; ${called[1]} ${largest(1)}.${change}`;
  }

  const shownChange = (name) => {
    const { mean: middle, low, high } = delta(name);
    return refining || low === undefined ? signed(middle) : `${signed(middle)} (${signed(low)} to ${signed(high)})`;
  };
  // Intervals are drawn when there are replications.
  const drawn = (m) => (refining ? { mean: m.mean } : m);

  return {
    names,
    mean,
    share,
    delta,
    marksOf,
    words,
    finding,
    shown: (side, name) => shown(share(side, name)),
    shownChange,
    drawnShare: (side, name) => drawn(share(side, name) ?? none),
    drawnChange: (name) => drawn(delta(name)),
    alone: (side) =>
      Object.fromEntries(
        Object.entries(rows[side])
          .filter(([name]) => !name.includes("+"))
          .map(([name, m]) => [name, m.mean]),
      ),
  };
}
