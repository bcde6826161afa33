// A pair of results as tables and as rows of a file.

import { h } from "./dom.mjs";
import { format, interval } from "./scales.mjs";
import { table } from "./table.mjs";

export const ARMS = [0, 1];
export const NAMES = ["Before", "After"];

export const change = (a, b) =>
  a === b ? "none" : a ? `${b >= a ? "+" : "−"}${format(Math.abs((100 * (b - a)) / a))} %` : "no ratio";

export function createNumbers(sidecar, arm, colours) {
  const roles = sidecar.roles.map((r) => r.name);

  const metricRows = (results) =>
    sidecar.metrics.map((m) => {
      const [a, b] = ARMS.map((side) => results[side].metrics[m.name]);
      return [`${m.name}${m.unit ? `, ${m.unit}` : ""}`, interval(a), interval(b), change(a.mean, b.mean)];
    });
  const metricTable = (results) =>
    table("Both arms in numbers: mean and 95 % interval", ["metric", ...NAMES, "change"], metricRows(results));

  function profileTable(results) {
    const share = (role, side, name) => results[side].profile[role][name] ?? 0;
    const rows = sidecar.symbols
      .map((name) => ({ name, parts: roles.flatMap((role) => ARMS.map((side) => share(role, side, name))) }))
      .filter(({ parts }) => Math.max(...parts) >= 0.05)
      .sort((a, b) => Math.max(...b.parts) - Math.max(...a.parts));
    const columns = roles.flatMap((role) => NAMES.map((n) => `${role}, ${n.toLowerCase()}`));
    return table(
      "CPU time by kernel symbol, % of the time that the CPU is busy",
      ["symbol", "layer", ...columns],
      rows.map(({ name, parts }) => [
        [colours.swatch(name), " ", h("code", null, name)],
        colours.layer(name),
        ...parts.map((v) => (v < 0.005 ? "0" : format(v))),
      ]),
    );
  }

  function csvRows(results, values) {
    const rows = [["arm", "kind", "cpu", "name", "mean", "low", "high", "unit"]];
    for (const side of ARMS) {
      const r = results[side];
      const name = `${arm}=${side}`;
      for (const [k, m] of Object.entries(r.metrics))
        rows.push([name, "metric", "", k, m.mean, m.low, m.high, m.unit]);
      for (const role of roles) {
        rows.push([name, "cpu", role, "busy", r.cpu[role], "", "", "%"]);
        for (const [k, v] of Object.entries(r.profile[role])) rows.push([name, "profile", role, k, v, "", "", "%"]);
      }
    }
    for (const [k, v] of Object.entries(values)) rows.push(["both", "knob", "", k, v, "", "", ""]);
    rows.push(["both", "engine", "", sidecar.engine_hash, "", "", "", ""]);
    return rows;
  }

  return { both: (results) => [metricTable(results), profileTable(results)], csvRows };
}
