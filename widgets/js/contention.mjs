// Throughput against CPUs for five ways to count, and where more CPUs begin to give less. Every point is runs of the engine.

import { createPanel } from "./panel.mjs";
import { drawCurves, key } from "./curves.mjs";
import { createSweep } from "./sweep.mjs";
import { format } from "./scales.mjs";
import { table } from "./table.mjs";
import { estimate } from "./reduce.mjs";

const AXIS = "CPUs that count; up: million counts a second, all CPUs";

// End of the warm-up and of the run, as sim/counting.py has it; a test holds the numbers of both equal.
function span(sidecar, v, operations) {
  const n = v.threads;
  const transfer = v.same_socket_ps;
  const over = (permille) => Math.floor((transfer * permille) / 1000);
  const waiting = {
    atomic: () => transfer + v.atomic_ps,
    ticket: () => over(v.ticket_permille + v.ticket_waiter_permille * Math.max(0, n - 2)),
    queued: () => over(v.queued_permille),
    private: () => 0,
    plain: () => transfer * (n + 2),
  }[sidecar.ways[v.way].name]();
  const lockless = ["atomic", "private"].includes(sidecar.ways[v.way].name);
  const each = 3 * v.hit_ps + v.atomic_ps + (n > 1 ? waiting : 0) + (lockless ? 0 : v.inside_ps);
  const turn = v.outside_ps + each * (sidecar.ways[v.way].name === "private" ? 1 : n);
  const rounds = Math.max(sidecar.least_rounds, Math.floor(operations / n));
  return { warm: sidecar.warm_rounds * turn, until: (sidecar.warm_rounds + rounds) * turn };
}

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { machines, ways, counts } = sidecar;
  const knobs = sidecar.controls;
  let curves = null; // of each way: [{ n, mean, low, high }]
  let settled = false;

  const costsOf = (v) => ({ ...machines[v.machine].costs, same_socket_ps: v.transfer_ns * 1000 });

  function jobs(v, quick) {
    const out = [];
    for (let i = 0; i < (quick ? 1 : v.replications); i++)
      ways.forEach((_, way) => {
        for (const threads of counts) {
          const set = { ...costsOf(v), threads, way, inside_ps: v.inside_ns * 1000, outside_ps: v.outside_ns * 1000 };
          const { warm, until } = span(sidecar, set, quick ? sidecar.quick_operations : sidecar.operations);
          out.push({ values: set, seed: v.seed + i, warm, until });
        }
      });
    return out;
  }

  function show(samples, v, done) {
    const points = ways.length * counts.length;
    curves = ways.map((_, way) =>
      counts.map((n, place) => {
        const runs = samples.filter((_, at) => at % points === way * counts.length + place);
        const resolution = runs[0].resolution.mops;
        return { n, ...estimate(runs.map((one) => one.metrics.mops), resolution, sidecar.student_t) };
      }),
    );
    settled = done;
    draw();
    panel.drawn({ knobs: { ...v }, curves, done });
  }

  const peakOf = (curve) => curve.reduce((best, one) => (one.mean > best.mean ? one : best));
  const fallOf = (curve) => {
    const peak = peakOf(curve);
    return curve.find((one) => one.n > peak.n && one.mean < peak.mean * (1 - sidecar.fall_pct / 100));
  };
  // Between two simulated numbers of CPUs the line is straight on the scale of the picture.
  function at(curve, n) {
    const next = curve.findIndex((one) => one.n >= n);
    const [a, b] = [curve[Math.max(0, next - 1)], curve[next]];
    if (b.n === n) return b.mean;
    return a.mean * (b.mean / a.mean) ** ((n - a.n) / (b.n - a.n));
  }

  const measured = (way) => {
    const v = panel.values;
    if (v.inside_ns || v.outside_ns) return [];
    return machines[v.machine].measured[ways[way].name].map(([n, ns]) => [n, (1000 * n) / ns]);
  };

  const fate = (way) => {
    const fall = fallOf(curves[way]);
    const peak = peakOf(curves[way]);
    const end = curves[way].at(-1);
    if (!fall)
      return end.mean > curves[way].at(-2).mean * (1 + sidecar.gain_pct / 100)
        ? `${ways[way].label} still gains at ${end.n} CPUs (${format(end.mean)} M/s)`
        : `${ways[way].label} levels off at ${format(peak.mean)} M/s`;
    const lost = 100 * (1 - end.mean / peak.mean);
    return `${ways[way].label}: most with ${peak.n} CPU${peak.n > 1 ? "s" : ""} (${format(peak.mean)} M/s), falls from ${fall.n}, ${format(lost)} % lost at ${end.n}`;
  };

  function draw() {
    if (!curves) return;
    const v = panel.values;
    const now = ways.map((one, way) => `${one.label} ${format(at(curves[way], v.cpus))}`).join(", ");
    const words =
      `With ${v.cpus} CPUs, million counts a second: ${now}. ` +
      `With more and more: ${ways.map((_, way) => fate(way)).join("; ")}.`;
    const series = ways.map((one, way) => ({
      label: one.label,
      points: curves[way].map((point) => [point.n, point.mean]),
      measured: measured(way),
      unit: "M/s",
      now: at(curves[way], v.cpus),
      peak: fallOf(curves[way]) ? peakOf(curves[way]).n : undefined,
    }));
    const drawn = drawCurves({ width: panel.width(), series, numbers: counts, at: v.cpus, axis: AXIS, words });
    drawn.node.addEventListener("pointerdown", (event) => {
      const box = panel.picture.getBoundingClientRect();
      panel.move({ cpus: drawn.at(event.clientX - box.left) });
    });
    panel.picture.replaceChildren(drawn.node);
    panel.legend.replaceChildren(
      ...ways.map((one, way) => key(way, measured(way).length > 0, one.label)),
    );
    panel.settled(settled);
    const source = ways.some((_, way) => measured(way).length)
      ? ` · marks: measured on ${machines[v.machine].processor}, ${sidecar.source}. ${machines[v.machine].note}`
      : "";
    panel.mark.textContent =
      `${sweep.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${v.seed} · ` +
      (settled ? `${v.replications} replications` : "refining, no interval yet") +
      ` · triangles: where a way that collapses has its peak${source}`;
    if (!settled) return;
    panel.summary.textContent = words;
    panel.numbers.replaceChildren(
      table(
        "Million counts a second, all CPUs together: mean and 95 % interval",
        ["CPUs", ...ways.map((one) => one.label)],
        counts.map((n, place) => [
          String(n),
          ...curves.map((curve) => `${format(curve[place].mean)} (${format(curve[place].low)} to ${format(curve[place].high)})`),
        ]),
      ),
    );
  }

  const rows = () => [
    ["way", "cpus", "mean", "low", "high", "unit"],
    ...ways.flatMap((one, way) => (curves?.[way] ?? []).map((p) => [one.name, p.n, p.mean, p.low, p.high, "M/s"])),
    ...knobs.map((k) => ["knob", k.name, panel.values[k.name], "", "", k.unit ?? ""]),
    ["engine", sidecar.engine_hash, "", "", "", ""],
  ];

  const panel = createPanel({
    model,
    el,
    name: "ContentionCurve",
    title: "Throughput against CPUs: what sharing one line allows",
    knobs,
    draw,
    rows,
    moved(names) {
      if (names.includes("machine") && !names.includes("transfer_ns")) {
        const transfer_ns = Math.round(machines[panel.values.machine].costs.same_socket_ps / 1000);
        if (transfer_ns !== panel.values.transfer_ns) return panel.move({ transfer_ns });
      }
      if (names.every((name) => name === "cpus")) return draw();
      panel.settled((settled = false));
      sweep.ask({ ...panel.values, replications: model.get("replications") });
    },
  });
  panel.values.replications = model.get("replications");
  panel.legend.setAttribute("aria-label", "Ways to count");
  const sweep = createSweep({ sidecar, jobs, show, failed: panel.failed });
  panel.start();
  sweep.ask(panel.values);
  return () => {
    panel.close();
    sweep.close();
  };
}

export default { render };
