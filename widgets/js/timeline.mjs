// A window of a run as lanes: every CPU, instruction by instruction, stepped forwards and backwards.

import { palette as makePalette } from "./colours.mjs";
import { control, parse } from "./controls.mjs";
import { h, onWidth, s, uid } from "./dom.mjs";
import { createJourneys } from "./journey.mjs";
import { LEFT, drawTimeline, laneHeight, laneTop } from "./lanes.mjs";
import { createNames } from "./names.mjs";
import { createPool } from "./pool.mjs";
import { facts, ns, us, wants } from "./rowwords.mjs";
import { format } from "./scales.mjs";
import { csv, download, readAddress, writeAddress } from "./share.mjs";
import { table } from "./table.mjs";
import { createTracks } from "./tracks.mjs";

const NEAR = 8; // rows before and after the selected one in the table
const CLOSEST = 20_000; // ps in sight at most zoom
const QUEUES = 5; // strips of queue lengths

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const onPage = model.host === "page";
  const knobs = sidecar.knobs;
  const key = `timeline-${sidecar.scenario}`;
  const own = [
    { name: "start_us", kind: "int", low: 0, high: sidecar.latest_us, step: 1, unit: "µs", default: model.get("start_us"),
      doc: "Where the window begins, after the start of the run." },
    { name: "window_us", kind: "int", low: 1, high: sidecar.widest_us, step: 1, unit: "µs", default: model.get("window_us"),
      doc: "How long the window is." },
    { name: "seed", kind: "int", low: 1, high: 1_000_000, step: 1, default: 1, doc: "Seed of the run." },
  ];
  const all = [...knobs, ...own];
  const values = {};
  for (const k of all) values[k.name] = model.get(k.name) ?? k.default;
  if (onPage) Object.assign(values, readAddress(key, all));
  const first = { ...values };
  const colours = makePalette(sidecar.symbols, sidecar.layers, sidecar.layer_order, uid("fill"));
  const spin = uid("spin");

  let trace, names, tracks, journeys, queues;
  let view = { from: 0, to: 1 };
  let row = -1;
  let packet = null; // { birth, holds, ended } of the packet that is followed
  let width = 320;
  let ticket = 0;

  const summary = h("p", { class: "rp-summary" });
  const mark = h("p", { class: "rp-mark" });
  const said = h("p", { class: "rp-said", role: "status", "aria-live": "polite" });
  const picture = h("div", {
    class: "rp-picture rp-timeline", tabindex: "0", role: "application", "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${sidecar.scenario}. Left and right step an instruction, with Shift a packet; up and down change ` +
      "the CPU; Page Up and Page Down move the view; plus and minus zoom; Home and End go to the first and last " +
      "instruction; F follows the packet; Escape lets go.",
  });
  const chosen = h("dl", { class: "rp-facts" });
  const wayBox = h("div", { class: "rp-words" });
  const nearBox = h("div", { class: "rp-words" });

  // --- runs -----------------------------------------------------------------------------------------
  const controls = {};
  for (const k of all) controls[k.name] = control(k, (value) => move({ [k.name]: value }));

  function move(changes) {
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) {
      controls[name].set(values[name]);
      model.set(name, values[name]);
    }
    model.save_changes();
    if (onPage) writeAddress(key, all, values);
    ask();
  }

  function ask() {
    el.dataset.settled = "false";
    const start = values.start_us * 1e6;
    const until = start + values.window_us * 1e6;
    const window = { start, until, room: sidecar.room, queues: sidecar.queue_numbers, watch: null, events: Infinity };
    const knobsNow = Object.fromEntries(knobs.map((k) => [k.name, values[k.name]]));
    ticket = pool.ask(() => [{ values: knobsNow, seed: values.seed, window }]);
  }

  function heard(message) {
    if (message.kind === "failed" && !trace)
      el.dispatchEvent(new CustomEvent("rp-failed", { detail: `the engine did not start (${message.reason})` }));
    if (message.kind === "failed") said.textContent = `No trace: ${message.reason}.`;
    if (message.kind !== "sample" || message.ticket !== ticket) return;
    trace = message.sample;
    names = createNames(sidecar, trace);
    tracks = createTracks(trace, names, sidecar);
    journeys = createJourneys(sidecar, trace);
    queues = sidecar.queues
      .map((name) => [name, tracks.series(name)])
      .filter(([, series]) => series.length > 1)
      .sort((a, b) => b[1].length - a[1].length)
      .slice(0, QUEUES);
    row = packet = null;
    whole();
    choose(wantedRow(model.get("selection")), false);
    el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail: { trace, births: journeys.births, ways: journeys.births.map((b) => journeys.way(b)) } }));
  }

  // --- the view -------------------------------------------------------------------------------------
  const firstTime = () => (trace.lost ? trace.columns.time[0] : trace.start);

  function whole() {
    view = { from: firstTime(), to: trace.end };
  }

  function look(from, span) {
    const most = trace.end - firstTime();
    const wide = Math.min(most, Math.max(CLOSEST, span));
    const begin = Math.min(trace.end - wide, Math.max(firstTime(), from));
    view = { from: begin, to: begin + wide };
    draw();
  }

  const pan = (part) => look(view.from + part * (view.to - view.from), view.to - view.from);

  function zoom(factor, about) {
    const time = about ?? (row >= 0 && inView() ? trace.columns.time[row] : (view.from + view.to) / 2);
    const span = Math.max(CLOSEST, (view.to - view.from) * factor);
    look(time - ((time - view.from) / (view.to - view.from)) * span, span);
  }

  const inView = () => trace.columns.time[row] >= view.from && trace.columns.time[row] <= view.to;

  // --- what is selected -----------------------------------------------------------------------------
  function wantedRow(selection) {
    const at = selection?.row;
    return Number.isInteger(at) && at >= 0 && at < tracks.count ? at : -1;
  }

  function choose(next, tell = true) {
    row = next >= 0 && next < tracks.count ? next : -1;
    if (row >= 0 && !inView()) return look(trace.columns.time[row] - (view.to - view.from) / 3, view.to - view.from), told(tell);
    draw();
    told(tell);
  }

  function told(tell) {
    if (!tell) return;
    const c = trace.columns;
    const owned = row < 0 ? -1 : journeys.owner(row);
    const selection = row < 0 ? {} : {
      row, time_ns: (c.time[row] - trace.start) / 1000, took_ns: c.took[row] / 1000, cpu: trace.homes[c.context[row]],
      instruction: names.listing(c.pc[row]), symbol: names.symbol(c.pc[row]), packet: owned < 0 ? null : c.item[owned],
    };
    model.set("selection", selection);
    model.save_changes();
  }

  // Rows that stepping goes through: all, or those of the packet that is followed.
  function followed() {
    if (!packet) return null;
    const rows = [];
    for (const hold of packet.holds)
      for (let i = hold.first; i <= hold.last; i++) if (trace.columns.context[i] === hold.context) rows.push(i);
    return rows.sort((a, b) => a - b);
  }

  function step(by) {
    const rows = followed();
    if (!rows) return choose(row < 0 ? tracks.from(view.from) : Math.min(tracks.count - 1, Math.max(0, row + by)));
    const at = rows.findIndex((i) => i >= row);
    choose(rows[Math.min(rows.length - 1, Math.max(0, (at < 0 ? rows.length - 1 : at) + by))]);
  }

  function stepPacket(by) {
    const births = journeys.births;
    if (!births.length) return void (said.textContent = "No packet begins in this window.");
    const here = packet ? packet.birth : row < 0 ? -1 : row;
    const next = by > 0 ? births.find((b) => b > here) : births.findLast((b) => b < here);
    if (next === undefined) return void (said.textContent = by > 0 ? "That was the last packet of the window." : "That was the first packet of the window.");
    follow(next);
  }

  function follow(birth) {
    packet = { birth, ...journeys.way(birth) };
    choose(birth);
  }

  function followHere() {
    const birth = row < 0 ? -1 : journeys.owner(row);
    if (birth < 0) return void (said.textContent = "This instruction is not about a packet that begins in the window.");
    packet = { birth, ...journeys.way(birth) };
    choose(row);
  }

  function letGo() {
    if (packet) packet = null;
    else row = -1;
    choose(row);
  }

  function lane(by) {
    const lanes = tracks.lanes;
    if (row < 0) return choose(tracks.from(view.from));
    const here = lanes.indexOf(tracks.lane(row));
    const next = lanes[Math.min(lanes.length - 1, Math.max(0, here + by))];
    packet = null;
    choose(tracks.at(next, trace.columns.time[row]));
  }

  // --- drawing --------------------------------------------------------------------------------------
  const packetWords = (birth) => {
    const way = packet?.birth === birth ? packet : journeys.way(birth);
    const c = trace.columns;
    const to = tracks.end(way.holds.at(-1).last);
    return `number ${c.item[birth]}, from ${us(trace, c.time[birth])} µs ` +
      (way.ended ? `to ${us(trace, to)} µs, where it is given back` : "on; it is still there when the window ends");
  };

  function sum() {
    const span = trace.end - firstTime();
    const busy = tracks.lanes
      .map((l) => `CPU ${l.cpu}${sidecar.cpu_roles[l.cpu] ? ` (${sidecar.cpu_roles[l.cpu]})` : ""} busy ${format((100 * l.busy) / span)} %` +
        (l.waited ? `, waiting ${format((100 * l.waited) / span)} %` : ""));
    const shown = busy.length > 8 ? [...busy.slice(0, 8), `and ${busy.length - 8} more CPUs`] : busy;
    const lost = trace.lost
      ? ` The ring keeps ${sidecar.room.toLocaleString("en")} instructions: the first ${trace.lost.toLocaleString("en")} of the window are lost, and the picture begins ${us(trace, firstTime())} µs into it.`
      : "";
    const ended = trace.status === "more" || trace.status === "reached" ? "" : ` The run ended here: ${trace.status}.`;
    return `${format(span / 1e6)} µs from ${values.start_us} µs on: ${tracks.count.toLocaleString("en")} instructions, ` +
      `${journeys.births.length} packets begin. ${shown.join("; ")}.${lost}${ended}`;
  }

  function draw() {
    if (!trace) return;
    const scene = {
      trace, tracks, names, colours, queues, view, width, row: row ?? -1, roles: sidecar.cpu_roles,
      holds: packet ? packet.holds : [], spinFill: `url(#${spin})`,
      said: `${tracks.lanes.length} CPUs from ${us(trace, view.from)} to ${us(trace, view.to)} µs; ${row >= 0 ? `selected: ${names.listing(trace.columns.pc[row])}` : "nothing selected"}`,
    };
    picture.replaceChildren(drawTimeline(scene));
    summary.textContent = sum();
    mark.textContent = `WebAssembly, in this page · engine ${String(sidecar.engine_hash).slice(0, 12)} · seed ${values.seed}`;
    const owned = row >= 0 ? journeys.owner(row) : -1;
    chosen.replaceChildren(
      ...(row < 0
        ? [h("dt", null, "nothing selected"), h("dd", null, "Click a span, or press an arrow key in the picture.")]
        : facts(trace, tracks, names, row, owned < 0 ? "" : packetWords(owned)).flatMap(([term, text]) => [h("dt", null, term), h("dd", null, text)])),
    );
    said.textContent = row < 0 ? "" : `${us(trace, trace.columns.time[row])} µs, ${names.who(trace.columns.context[row])}: ${names.listing(trace.columns.pc[row])} in ${names.symbol(trace.columns.pc[row])}, ${ns(trace.columns.took[row])} ns`;
    wayBox.replaceChildren(...(packet ? [wayTable()] : []));
    nearBox.replaceChildren(nearTable());
    el.dataset.settled = "true";
  }

  // A packet's way with what it waits for between; hands of one context that follow each other are one.
  function wayTable() {
    const c = trace.columns;
    const rows = [];
    const stretches = [];
    for (const hold of packet.holds) {
      const last = stretches.at(-1);
      const handed = last && sidecar.marks.gives.includes(c.pc[last.last]) && names.op(c.pc[last.last]) === "PUSH";
      if (last && last.context === hold.context && !(handed && c.what[last.last] >= 0 && names.queueName(c.what[last.last]) !== "gro_list"))
        Object.assign(last, { last: hold.last, pieces: last.pieces + 1 });
      else stretches.push({ ...hold, pieces: 1 });
    }
    stretches.forEach((one, at) => {
      const [a, b] = [c.time[one.first], tracks.end(one.last)];
      const before = stretches[at - 1];
      if (before) {
        const gave = c.what[before.last] >= 0 && c.length[before.last] >= 0 ? names.queue(c.what[before.last]) : "between two hands";
        rows.push([us(trace, tracks.end(before.last)), "waits", gave, ns(Math.max(0, a - tracks.end(before.last)))]);
      }
      const symbols = [...new Set([one.first, one.last].map((i) => names.symbol(c.pc[i])))].join(" to ");
      rows.push([us(trace, a), names.who(one.context), `${symbols}${one.pieces > 1 ? `, ${one.pieces} times` : ""}`, ns(b - a)]);
    });
    return table(`The way of packet ${c.item[packet.birth]}${packet.ended ? "" : ", as far as the window goes"}`, ["µs", "who", "where", "ns"], rows);
  }

  function nearTable() {
    const c = trace.columns;
    const middle = row >= 0 ? row : tracks.from(view.from);
    const from = Math.max(0, middle - NEAR);
    const rows = [];
    for (let i = from; i < Math.min(tracks.count, from + 2 * NEAR + 1); i++)
      rows.push([
        `${i === row ? "▸ " : ""}${us(trace, c.time[i])}`, names.who(c.context[i]), h("code", null, names.listing(c.pc[i])),
        h("code", null, names.symbol(c.pc[i])), ns(c.took[i]), ns(c.wait[i]), wants(trace, names, i),
      ]);
    return table("Instructions around the selected one", ["µs", "who", "instruction", "symbol", "ns", "waiting, ns", "line, lock or queue"], rows);
  }

  // --- hands ----------------------------------------------------------------------------------------
  const keys = {
    ArrowRight: (e) => (e.shiftKey ? stepPacket(1) : step(1)),
    ArrowLeft: (e) => (e.shiftKey ? stepPacket(-1) : step(-1)),
    ArrowDown: () => lane(1),
    ArrowUp: () => lane(-1),
    PageDown: () => pan(0.8),
    PageUp: () => pan(-0.8),
    Home: () => choose(followed()?.[0] ?? 0),
    End: () => choose(followed()?.at(-1) ?? tracks.count - 1),
    Escape: letGo,
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    f: followHere,
    F: followHere,
  };
  picture.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || !trace || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(event);
  });

  const timeAt = (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    return view.from + ((at - LEFT) / (width - 6 - LEFT)) * (view.to - view.from);
  };
  let held = null;
  picture.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, from: view.from, moved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!held || !trace || !event.buttons) return;
    const by = event.clientX - held.x;
    if (Math.abs(by) > 4 && !held.moved) {
      held.moved = true;
      picture.setPointerCapture(event.pointerId);
    }
    if (held.moved) look(held.from - (by / (width - 6 - LEFT)) * (view.to - view.from), view.to - view.from);
  });
  picture.addEventListener("pointercancel", () => (held = null));
  picture.addEventListener("pointerup", (event) => {
    const clicked = held && !held.moved;
    held = null;
    if (!clicked || !trace) return;
    const y = event.clientY - picture.querySelector("svg").getBoundingClientRect().top;
    const tall = laneHeight(tracks.lanes) + 4;
    const at = Math.floor((y - laneTop(tracks.lanes, 0)) / tall);
    const which = tracks.lanes[at];
    if (!which) return;
    const time = timeAt(event);
    const span = which.spans[Math.min(which.spans.length - 1, tracks.after(which, time))];
    const near = ((view.to - view.from) / (width - LEFT)) * 4;
    if (span !== undefined && trace.columns.time[span] <= time + near) choose(span);
  });
  picture.addEventListener("dblclick", (event) => trace && zoom(0.25, timeAt(event)));
  picture.addEventListener("wheel", (event) => {
    if (!trace || !(event.ctrlKey || event.metaKey)) return; // without a key the wheel is the page's
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, timeAt(event));
  }, { passive: false });

  const button = (label, words, onclick) => h("button", { type: "button", "aria-label": words, title: words, onclick: () => trace && onclick() }, label);
  const actions = h("div", { class: "rp-actions", role: "group", "aria-label": "Stepping and looking" },
    button("‹ packet", "Previous packet", () => stepPacket(-1)),
    button("‹", "Previous instruction", () => step(-1)),
    button("›", "Next instruction", () => step(1)),
    button("packet ›", "Next packet", () => stepPacket(1)),
    button("follow", "Follow the packet of the selected instruction", followHere),
    button("let go", "Let go of the packet or the instruction", letGo),
    button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)),
    button("«", "Move the view back", () => pan(-0.5)),
    button("»", "Move the view on", () => pan(0.5)),
    button("all", "The whole window", () => (whole(), draw())),
  );

  function rows() {
    const c = trace.columns;
    const out = [["time_ns", "took_ns", "waited_ns", "cpu", "who", "instruction", "symbol", "packet_register", "wants", "owner_before", "owner_after"]];
    for (let i = 0; i < tracks.count; i++)
      out.push([(c.time[i] - trace.start) / 1000, c.took[i] / 1000, c.wait[i] / 1000, trace.homes[c.context[i]], names.who(c.context[i]),
        names.listing(c.pc[i]), names.symbol(c.pc[i]), c.item[i], wants(trace, names, i), c.before[i], c.after[i]]);
    return out;
  }

  // --- the whole ------------------------------------------------------------------------------------
  const acts = knobs.filter((k) => k.effect === "acts" || k.effect === undefined);
  const inSight = acts.filter((k) => model.get("first").includes(k.name));
  const nodes = (list) => h("div", { class: "rp-controls" }, list.map((k) => controls[k.name].node));
  const title = uid("title");
  el.classList.add("rp");
  el.append(
    h("section", { class: "rp-lab", "aria-labelledby": title },
      s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" },
        colours.defs(sidecar.symbols),
        s("defs", null, s("pattern", { id: spin, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          s("rect", { width: 6, height: 6, class: "rp-spin-ground" }),
          s("path", { d: "M0,6 L6,0 M-1,1 L1,-1 M5,7 L7,5", class: "rp-spin" })))),
      h("p", { id: title, class: "rp-title" }, `Timeline: ${sidecar.scenario}`),
      nodes(inSight),
      h("details", { class: "rp-more" }, h("summary", null, "The window, the seed, and more switches"),
        nodes([...own, ...acts.filter((k) => !inSight.includes(k))])),
      actions,
      picture,
      h("ul", { class: "rp-legend", "aria-label": "Layers of the receive path" },
        colours.layers.map((name) => h("li", null, colours.swatch(colours.example(name)), " ", name)),
        h("li", null, s("svg", { width: 14, height: 14, class: "rp-swatch", "aria-hidden": "true" }, s("rect", { width: 14, height: 14, fill: `url(#${spin})` })), " waiting: a lock is held, a line is with others"),
        h("li", null, "full height: softirq; lower: a thread; empty: idle or switching")),
      chosen,
      said,
      summary,
      mark,
      wayBox,
      h("div", { class: "rp-actions" },
        h("button", { type: "button", onclick: () => move({ ...first }) }, "Reset"),
        h("button", { type: "button", onclick: () => trace && download(`${sidecar.scenario}-trace.csv`, "text/csv", csv(rows())) }, "Download CSV")),
      h("details", { class: "rp-more", open: true }, h("summary", null, "Instructions as a table"), nearBox)),
  );
  for (const k of all) {
    controls[k.name].set(values[k.name]);
    model.on(`change:${k.name}`, () => {
      const value = parse(k, model.get(k.name));
      if (value === undefined || String(value) === String(values[k.name])) return;
      values[k.name] = value;
      controls[k.name].set(value);
      ask();
    });
  }
  model.on("change:selection", () => {
    if (!trace || (model.get("selection").row ?? -1) === row) return;
    packet = null;
    choose(wantedRow(model.get("selection")), false);
  });
  const pool = createPool(sidecar, 1, heard);
  const unwatch = onWidth(picture, (w) => {
    width = w;
    draw();
  });
  ask();
  return () => {
    unwatch();
    pool.close();
  };
}

export default { render };
