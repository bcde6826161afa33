// Flows as threads: from the wire through receive queues to the CPUs that poll, carry up and read their packets.

import { h, s } from "./dom.mjs";
import { createPanel } from "./panel.mjs";
import { combine } from "./reduce.mjs";
import { createSweep } from "./sweep.mjs";
import { format, interval, linear } from "./scales.mjs";
import { command } from "./share.mjs";
import { table } from "./table.mjs";

const TOP = 24;
const ROW = 38;
const BOX = 26;

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const { cpus } = sidecar;
  const knobs = [
    ...sidecar.controls,
    { name: "follow", kind: "int", low: 0, high: sidecar.max_flows, step: 1, doc: "The flow to follow; 0: none. Escape: none." },
    { name: "seed", kind: "int", low: 1, high: 1000, step: 1, doc: "Of the map. Moves hashes and arrivals." },
  ];
  let now = null; // { ways, work, result, done, values }
  let before = null; // the last settled map for other settings
  let asked = false; // runs are on their way

  const scenarioKnobs = (v) => Object.fromEntries(sidecar.controls.map((k) => [k.name, v[k.name]]));
  const all = Object.fromEntries(sidecar.knobs.map((k) => [k.name, k.default]));

  function jobs(v, quick) {
    const values = { ...all, ...scenarioKnobs(v) };
    const [warm, until] = quick ? [sidecar.quick_warm_ps, sidecar.quick_until_ps] : [sidecar.warm_ps, sidecar.until_ps];
    return Array.from({ length: quick ? 1 : model.get("replications") }, (_, i) => ({ values, seed: v.seed + i, warm, until }));
  }

  function show(samples, v, done) {
    const { cells, cpu } = samples[0];
    const us = (done ? sidecar.until_ps - sidecar.warm_ps : sidecar.quick_until_ps - sidecar.quick_warm_ps) / 1e6;
    const ways = cells.queue.map((queue, flow) => {
      const polled = cells.interrupted[queue];
      const read = cells.by_reader[flow];
      const carried = v.rfs ? read : v.rps_cpus ? cells.by_hash[flow] : polled;
      return { queue, polled, carried, read, mpps: cells.arrived[flow] / us };
    });
    const work = Array.from({ length: cpus }, (_, i) => ({
      polled: cells.polled[i] / us,
      carried: cells.carried[i] / us,
      read: (cells.read_bytes[i] * 8e-3) / us,
      busy: cpu[`CPU ${i}`],
    }));
    if (now?.done && JSON.stringify(scenarioKnobs(now.values)) !== JSON.stringify(scenarioKnobs(v))) before = now;
    now = { ways, work, result: combine(samples, sidecar, { knobs: scenarioKnobs(v), seed: v.seed }), done, values: { ...v } };
    asked = !done;
    draw();
    panel.drawn({ knobs: { ...v }, ways, work, result: now.result, done });
  }

  // --- the picture ----------------------------------------------------------------------------------
  function draw() {
    if (!now) return;
    const width = panel.width();
    const { ways, work } = now;
    const followed = panel.values.follow - 1;
    const queues = Math.max(...ways.map((w) => w.queue), Math.min(now.values.rx_queues, cpus) - 1) + 1;
    const height = TOP + cpus * ROW + 4;
    const box = Math.min(54, width / 8);
    const columns = linear(0, 4, box / 2 + 1, width - box - Math.min(70, width * 0.16));
    const middle = (rows, row) => TOP + (cpus * ROW * (row + 0.5)) / rows;
    const flowY = (flow) => middle(ways.length, flow);
    const stages = [
      { name: "flows", x: columns(0) },
      { name: "queues", x: columns(1) },
      { name: "polled", x: columns(2) },
      { name: "carried", x: columns(3) },
      { name: "read", x: columns(4) },
    ];
    const most = Math.max(...ways.map((w) => w.mpps), 1e-9);
    const parts = [];
    ways.forEach((w, flow) => {
      const spread = (flow - (ways.length - 1) / 2) * Math.min(2, 20 / ways.length);
      const ys = [flowY(flow), middle(queues, w.queue) + spread, ...[w.polled, w.carried, w.read].map((c) => middle(cpus, c) + spread)];
      let d = `M${stages[0].x},${ys[0]}`;
      for (let i = 1; i < ys.length; i++) {
        const half = (stages[i - 1].x + stages[i].x) / 2;
        d += ` C${half},${ys[i - 1]} ${half},${ys[i]} ${stages[i].x},${ys[i]}`;
      }
      const mine = flow === followed;
      const thread = s("path", {
        d,
        class: `rp-thread rp-ink${flow % 4}${followed >= 0 && !mine ? " rp-faint" : ""}`,
        "stroke-width": (mine ? 2 : 0) + 1 + (3 * w.mpps) / most,
        "stroke-dasharray": ["", "6 3", "2 3", "9 3 2 3"][Math.floor(flow / 4) % 4],
      });
      thread.append(s("title", null, wayWords(w, flow)));
      thread.addEventListener("click", () => panel.move({ follow: flow + 1 }));
      parts.push(thread);
    });
    const label = (x, y, words, more) => s("text", { x, y, "text-anchor": "middle", ...more }, words);
    stages.forEach((stage, i) => {
      const rows = i === 0 ? ways.length : i === 1 ? queues : cpus;
      parts.push(label(i ? stage.x : 2, 14, stage.name, i ? undefined : { "text-anchor": "start" }));
      if (i === 0) {
        const each = Math.ceil(14 / ((cpus * ROW) / rows));
        for (let flow = 0; flow < rows; flow += each)
          parts.push(label(stage.x - 6, flowY(flow) + 4, String(flow + 1), { class: "rp-tick", "text-anchor": "end" }));
        return;
      }
      for (let row = 0; row < rows; row++) {
        const y = middle(rows, row) - BOX / 2;
        const amount = i === 1 ? 0 : [work[row].polled, work[row].carried, work[row].read][i - 2];
        const used = i === 1 || amount > 0.0005;
        parts.push(s("rect", { x: stage.x - box / 2, y, width: box, height: BOX, class: used ? "rp-box" : "rp-box rp-unused" }));
        parts.push(label(stage.x, y + 12, i === 1 ? `q${row}` : `CPU ${row}`, { class: used ? "" : "rp-tick" }));
        if (i > 1 && used) parts.push(label(stage.x, y + 23, format(amount), { class: "rp-tick rp-small" }));
      }
    });
    // Busy bars, in the rows of the CPUs; a line where the bar ended before the last move.
    const from = stages[4].x + box / 2 + 6;
    const x = linear(0, 100, from, width - 2);
    parts.push(s("text", { x: width - 2, y: 14, "text-anchor": "end" }, "busy, %"));
    for (let cpu = 0; cpu < cpus; cpu++) {
      const y = middle(cpus, cpu) - BOX / 2;
      const part = work[cpu].busy;
      parts.push(s("rect", { x: from, y, width: x(100) - from, height: BOX, class: "rp-idle" }));
      parts.push(s("rect", { x: from, y, width: x(part) - from, height: BOX, class: "rp-hue2" }));
      if (before) parts.push(s("path", { d: `M${x(before.work[cpu].busy)},${y - 2} v${BOX + 4}`, class: "rp-reported" }));
      parts.push(s("text", { x: from + 4, y: y + 17, class: "rp-inside" }, part.toFixed(0)));
    }
    const said = words();
    panel.picture.replaceChildren(
      s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said }, parts),
    );
    panel.settled(!asked);
    panel.mark.textContent =
      `${sweep.where()} · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${now.values.seed} · ` +
      (now.done ? `rates over ${now.result.replications} seeds, 95 % intervals` : "refining, no interval yet") +
      ` · under a CPU: million packets a second polled and carried, Gbit/s read${before ? " · dotted: busy before the last move" : ""}`;
    if (!now.done) return;
    panel.summary.textContent = said;
    panel.numbers.replaceChildren(...tables());
  }

  // --- in words and numbers -------------------------------------------------------------------------
  const wayWords = (w, flow) =>
    `Flow ${flow + 1}: queue ${w.queue}, polled by CPU ${w.polled}, carried up by CPU ${w.carried}, read by CPU ${w.read}, ` +
    `${format(w.mpps)} million packets a second`;

  function words() {
    const v = now.values;
    const headline = now.result.metrics[sidecar.headline[v.socket]];
    const list = (pick) => [...new Set(now.ways.map(pick))].sort((a, b) => a - b).join(", ");
    const mask = sidecar.masks[v.rps_place][v.rps_cpus];
    const steered = v.rfs ? "RFS sends each flow to its reader's CPU" : v.rps_cpus ? `RPS spreads flows over mask ${mask.toString(16)}` : "neither RPS nor RFS";
    const busiest = now.work.reduce((best, w, i) => (w.busy > now.work[best].busy ? i : best), 0);
    const followed = now.ways[panel.values.follow - 1];
    return (
      `${now.ways.length} flow${now.ways.length > 1 ? "s" : ""} over ${v.rx_queues} queue${v.rx_queues > 1 ? "s" : ""}; ${steered}. ` +
      `Polled on CPUs ${list((w) => w.polled)}, carried up on ${list((w) => w.carried)}, read on ${list((w) => w.read)}. ` +
      `${now.done ? interval(headline) : format(headline.mean)} ${headline.unit}; busiest is CPU ${busiest} (${format(now.work[busiest].busy)} %).` +
      (before && now.done ? ` ${movedWords()}` : "") +
      (followed ? ` ${wayWords(followed, panel.values.follow - 1)}.` : "") +
      (panel.values.follow > now.ways.length ? ` There is no flow ${panel.values.follow} to follow.` : "")
    );
  }

  // What the last move changed: flows whose packets go elsewhere, and CPUs with another load.
  function movedWords() {
    const other = (key) => now.ways.filter((w, flow) => before.ways[flow] && before.ways[flow][key] !== w[key]).length;
    const moved = [["polled", "polled"], ["carried", "carried up"], ["read", "read"]]
      .map(([key, name]) => [other(key), name])
      .filter(([n]) => n)
      .map(([n, name]) => `${n} flow${n > 1 ? "s are" : " is"} ${name} on another CPU`);
    const loads = now.work
      .map((w, i) => [i, before.work[i].busy, w.busy])
      .filter(([, a, b]) => Math.abs(a - b) >= 1)
      .map(([i, a, b]) => `CPU ${i} ${a.toFixed(0)} to ${b.toFixed(0)} %`);
    const single = now.values.socket === "udp" ? ": one UDP socket has one reader, on one CPU" : "";
    const still = `nothing moved${before.values.readers === now.values.readers ? "" : single}`;
    return `Since the setting before: ${[...moved, ...loads].join(", ") || still}.`;
  }

  const workRows = () => now.work.map((w, i) => [`CPU ${i}`, w.polled, w.carried, w.read, w.busy]);
  const wayRows = () => now.ways.map((w, flow) => [flow + 1, w.queue, w.polled, w.carried, w.read, w.mpps]);
  const WORK = ["CPU", "polled, Mpps", "carried up, Mpps", "read, Gbit/s", "busy, %"];
  const WAY = ["flow", "queue", "polled by CPU", "carried by CPU", "read by CPU", "Mpps"];
  const tables = () => [
    table("Work of each CPU", WORK, workRows().map(([name, ...rest]) => [name, ...rest.map(format)])),
    table("Way of each flow", WAY, wayRows().map((row) => [...row.slice(0, 5).map(String), format(row[5])])),
    table(
      "Rates over all seeds: mean and 95 % interval",
      ["metric", "value"],
      Object.entries(now.result.metrics).map(([name, m]) => [`${name}, ${m.unit}`, interval(m)]),
    ),
  ];
  const rows = () =>
    now
      ? [WORK, ...workRows(), WAY, ...wayRows(), ["engine", sidecar.engine_hash], ...knobs.map((k) => ["knob", k.name, now.values[k.name] ?? panel.values[k.name]])]
      : [WORK];

  const panel = createPanel({
    model,
    el,
    name: "SteeringMap",
    title: "Steering map: which CPU does what for which flow",
    knobs,
    draw,
    rows,
    command: () => command(sidecar.scenario, sidecar.knobs, { ...all, ...scenarioKnobs(panel.values) }, panel.values.seed, model.get("replications")),
    moved(names) {
      if (names.every((name) => name === "follow")) return draw();
      panel.settled(!(asked = true));
      sweep.ask(panel.values);
    },
  });
  panel.legend.setAttribute("aria-label", "Columns");
  panel.legend.append(
    h("li", null, "queues: RSS, in the NIC"),
    h("li", null, "polled: driver and GRO, where the queue interrupts"),
    h("li", null, "carried: IP and the socket, where RPS or RFS says"),
    h("li", null, "read: the program"),
  );
  const sweep = createSweep({ sidecar, jobs, show, failed: panel.failed });
  panel.start();
  sweep.ask(panel.values);
  return () => {
    panel.close();
    sweep.close();
  };
}

export default { render };
