// A window of a run as lanes: every CPU, instruction by instruction, stepped forwards and backwards.

import { palette as makePalette } from "./colours.mjs";
import { control, parse, showsWith } from "./controls.mjs";
import { h, onWidth, uid } from "./dom.mjs";
import { onKeys, onPointer, sign } from "./hands.mjs";
import { createJourneys } from "./journey.mjs";
import { drawMarks } from "./lanemarks.mjs";
import { LEFT, drawTimeline, laneHeight, laneTop, revealLane } from "./lanes.mjs";
import { createNames } from "./names.mjs";
import { createPool } from "./pool.mjs";
import { facts, inOneLine, ns, packetWords, selectionOf, summaryWords, us } from "./rowwords.mjs";
import { csv, download, readAddress, writeAddress } from "./share.mjs";
import { fileRows, nearTable, wayTable } from "./tracetables.mjs";
import { frame, windowKnobs } from "./timelineframe.mjs";
import { createTracks } from "./tracks.mjs";
import { createViewport } from "./viewport.mjs";
import { createWalk } from "./walk.mjs";

const CLOSEST = 20_000; // ps in sight at most zoom
const SIGHT = 60e6; // ps in sight at first
const STRIPS = 5; // queues that are drawn
const KEYS =
  "Left and right step an instruction, with Shift a packet; up and down change the CPU; Page Up and Page Down move the " +
  "view; plus and minus zoom; Home and End go to the first and last instruction; F follows the packet; Escape lets go.";

const sameTrace = (a, b) =>
  a.start === b.start && Object.entries(a.columns).every(([name, column]) => {
    const other = b.columns[name];
    return column.length === other.length && column.every((x, i) => x === other[i]);
  });

function render({ model, el }) {
  const sidecar = model.get("sidecar");
  const onPage = model.host === "page";
  const knobs = sidecar.knobs;
  const key = `timeline-${sidecar.scenario}`;
  const own = windowKnobs(sidecar, model);
  const all = [...knobs, ...own];
  const values = {};
  for (const k of all) values[k.name] = model.get(k.name) ?? k.default;
  const begin = { ...values };
  const addressed = all.map((k) => ({ ...k, default: begin[k.name] }));
  if (onPage) Object.assign(values, readAddress(key, addressed));
  const colours = makePalette(sidecar.symbols, sidecar.layers, sidecar.layer_order, uid("fill"));
  const wait = uid("wait");
  const view = createViewport(CLOSEST);
  let scene = null; // { trace, tracks, names, journeys, queues, sidecar }
  let walk = null;
  let row = -1;
  let drawn = null; // the picture without what is selected, and the view it is of
  let width = 320;
  let ticket = 0;
  let last = []; // names of the knobs that moved since the last trace

  const summary = h("p", { class: "rp-summary" });
  const mark = h("p", { class: "rp-mark" });
  const said = h("p", { class: "rp-said", role: "status", "aria-live": "polite" });
  const moved = h("p", { class: "rp-mark", role: "status" });
  const chosen = h("dl", { class: "rp-facts" });
  const [way, near] = [h("div", { class: "rp-words" }), h("div", { class: "rp-words" })];
  const picture = h("div", {
    class: "rp-picture rp-timeline",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${sidecar.scenario}. ${KEYS}`,
  });

  // --- runs -----------------------------------------------------------------------------------------
  const controls = {};
  for (const k of all) controls[k.name] = control(k, (value) => move({ [k.name]: value }), begin[k.name]);

  function move(changes) {
    Object.assign(values, changes);
    for (const name of Object.keys(changes)) {
      controls[name].set(values[name]);
      model.set(name, values[name]);
    }
    model.save_changes();
    if (onPage) writeAddress(key, addressed, values);
    last = Object.keys(changes);
    ask();
  }

  function ask() {
    el.dataset.settled = "false";
    const start = values.start_us * 1e6;
    const until = start + values.window_us * 1e6;
    const window = { start, until, room: sidecar.room, queues: sidecar.queue_numbers, watch: null, events: Infinity };
    const settings = Object.fromEntries(knobs.map((k) => [k.name, values[k.name]]));
    ticket = pool.ask(() => [{ values: settings, seed: values.seed, window }]);
  }

  function heard(message) {
    if (message.kind === "failed") failed(message.reason);
    if (message.kind !== "sample" || message.ticket !== ticket) return;
    show(message.sample, message.ticket);
  }

  // In pieces, so that a page without a worker stays awake.
  async function show(trace, mine) {
    const breath = () => new Promise((resolve) => setTimeout(resolve));
    const names = createNames(sidecar, trace);
    const tracks = createTracks(trace, names);
    await breath();
    const journeys = createJourneys(sidecar, trace);
    await breath();
    const queues = sidecar.queues.map((name) => [name, tracks.series(name)]);
    const moving = queues.filter(([, series]) => series.length > 1).sort((a, b) => b[1].length - a[1].length);
    await breath();
    if (mine !== ticket) return;
    // A switch may act on nothing that happens in this window.
    const same = last.length && scene && sameTrace(scene.trace, trace);
    const hints = last.map((name) => showsWith(knobs.find((k) => k.name === name), values)).join("");
    moved.textContent = same ? `The last move changed nothing in this window${hints}.` : "";
    last = [];
    scene = { trace, tracks, names, journeys, queues: moving.slice(0, STRIPS), sidecar };
    walk = createWalk(trace, tracks, journeys);
    view.reset(trace.lost ? trace.columns.time[0] : trace.start, trace.end);
    view.look(view.from, SIGHT);
    row = -1;
    choose(model.get("selection")?.row ?? -1, false);
    el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail: { trace, journeys } }));
  }

  function failed(reason) {
    if (!scene) el.dispatchEvent(new CustomEvent("rp-failed", { detail: `the engine did not start (${reason})` }));
    said.textContent = `No trace: ${reason}.`;
  }

  // --- what is selected and in sight ----------------------------------------------------------------
  function choose(next, tell = true) {
    row = Number.isInteger(next) && next >= 0 && next < scene.tracks.count ? next : -1;
    if (row >= 0 && !view.holds(timeOf(row))) view.show(timeOf(row));
    draw();
    if (row >= 0) revealLane(picture, scene.tracks.lanes, scene.tracks.lane(row));
    if (!tell) return;
    model.set("selection", row < 0 ? {} : selectionOf(scene, row));
    model.save_changes();
  }

  const timeOf = (at) => scene.trace.columns.time[at];
  const say = (words) => void (said.textContent = words);

  function step(by) {
    const next = walk.step(row, by, view.from);
    if (next !== row) return choose(next);
    const which = by > 0 ? "last" : "first";
    say(`That is the ${which} instruction of the ${walk.packet ? "packet that is followed: let go to step beyond it" : "window"}.`);
  }

  function stepPacket(by) {
    const next = walk.birth(row, by);
    if (!scene.journeys.births.length) return say("No packet begins in this window.");
    if (next === undefined) return say(`That was the ${by > 0 ? "last" : "first"} packet of the window.`);
    walk.follow(next);
    choose(next);
  }

  function follow() {
    const birth = row < 0 ? -1 : scene.journeys.owner(row);
    if (birth < 0) return say("The selected instruction is not about a packet that begins in the window.");
    walk.follow(birth);
    choose(row);
  }

  function letGo() {
    const held = walk.packet;
    walk.follow(-1);
    choose(held ? row : -1);
  }

  function lane(by) {
    walk.follow(-1);
    choose(walk.lane(row, by, view.from));
  }

  const looked = (act) => (act(), draw());
  const zoom = (factor, about) =>
    looked(() =>
      view.zoom(factor, about ?? (row >= 0 && view.holds(timeOf(row)) ? timeOf(row) : (view.from + view.to) / 2)),
    );

  // --- drawing --------------------------------------------------------------------------------------
  function draw() {
    if (!scene) return;
    const { trace, tracks, names, journeys } = scene;
    const { packet } = walk;
    const sight = `${tracks.lanes.length} CPUs from ${us(trace, view.from)} to ${us(trace, view.to)} µs`;
    const words = `${sight}; ${row < 0 ? "nothing selected" : `selected: ${inOneLine(scene, row)}`}`;
    const picturing = { ...scene, colours, view, width, roles: sidecar.cpu_roles, waitFill: `url(#${wait})` };
    const state = [scene, view.from, view.to, width];
    if (!drawn || state.some((x, i) => x !== drawn.state[i])) {
      drawn = { ...drawTimeline(picturing), state };
      picture.replaceChildren(drawn.svg);
    }
    drawn.over.replaceChildren(...drawMarks({ ...picturing, row, holds: packet?.holds ?? [] }, drawn.bottom));
    drawn.svg.setAttribute("aria-label", words);
    summary.textContent = summaryWords(scene, values.start_us);
    const hash = String(sidecar.engine_hash).slice(0, 12);
    mark.textContent = `WebAssembly, in this page · engine ${hash} · seed ${values.seed}`;
    const owner = row < 0 ? -1 : journeys.owner(row);
    const list =
      row < 0
        ? [["nothing selected", "Click a span, or press an arrow key in the picture."]]
        : facts(scene, row, owner < 0 ? "" : packetWords(scene, owner));
    chosen.replaceChildren(...list.flatMap(([term, text]) => [h("dt", null, term), h("dd", null, text)]));
    say(row < 0 ? "" : `${inOneLine(scene, row)}${packet ? "; its packet is followed" : ""}`);
    way.replaceChildren(...(packet ? [wayTable(scene, packet)] : []));
    near.replaceChildren(nearTable(scene, row < 0 ? tracks.from(view.from) : row, row));
    el.dataset.settled = "true";
  }

  // --- hands ----------------------------------------------------------------------------------------
  const there = () => Boolean(scene);
  const keys = {
    ArrowRight: (e) => (e.shiftKey ? stepPacket(1) : step(1)),
    ArrowLeft: (e) => (e.shiftKey ? stepPacket(-1) : step(-1)),
    ArrowDown: () => lane(1),
    ArrowUp: () => lane(-1),
    PageDown: () => looked(() => view.pan(0.8)),
    PageUp: () => looked(() => view.pan(-0.8)),
    Home: () => choose(walk.first()),
    End: () => choose(walk.last()),
    Escape: letGo,
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    f: follow,
    F: follow,
  };
  onKeys(picture, keys, there);
  const perPixel = () => view.span / (width - 6 - LEFT);
  const timeAt = (event) => view.from + (event.clientX - picture.getBoundingClientRect().left - LEFT) * perPixel();
  onPointer(picture, {
    ready: there,
    begun: () => view.from,
    dragged: (by, from) => looked(() => view.look(from - by * perPixel(), view.span)),
    clicked(event) {
      const { tracks } = scene;
      const y = event.clientY - picture.querySelector("svg").getBoundingClientRect().top;
      const lane = tracks.lanes[Math.floor((y - laneTop(tracks.lanes, 0)) / (laneHeight(tracks.lanes) + 4))];
      if (!lane?.spans.length) return;
      const span = lane.spans[Math.min(lane.spans.length - 1, tracks.after(lane, timeAt(event)))];
      if (timeOf(span) <= timeAt(event) + 4 * perPixel()) choose(span);
    },
  });
  picture.addEventListener("dblclick", (event) => scene && zoom(0.25, timeAt(event)));
  const wheel = (event) => {
    if (!scene || !(event.ctrlKey || event.metaKey)) return; // without a key the wheel is the page's
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, timeAt(event));
  };
  picture.addEventListener("wheel", wheel, { passive: false });

  const button = (label, words, act) => sign(label, words, () => scene && act());
  const stepping = [
    button("‹ packet", "Previous packet", () => stepPacket(-1)),
    button("‹", "Previous instruction", () => step(-1)),
    button("›", "Next instruction", () => step(1)),
    button("packet ›", "Next packet", () => stepPacket(1)),
    button("follow", "Follow the packet of the selected instruction", follow),
    button("let go", "Let go of the packet or the instruction", letGo),
    button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)),
    button("«", "Move the view back", () => looked(() => view.pan(-0.5))),
    button("»", "Move the view on", () => looked(() => view.pan(0.5))),
    button("all", "The whole window", () => looked(view.whole)),
  ];
  const leaving = [
    sign("Reset", "Reset", () => move({ ...begin })),
    sign("Download CSV", "Download CSV", () => scene && download(`${key}.csv`, "text/csv", csv(fileRows(scene)))),
  ];

  // --- the whole ------------------------------------------------------------------------------------
  const acts = knobs.filter((k) => k.effect === "acts" || k.effect === undefined);
  const inSight = acts.filter((k) => model.get("first").includes(k.name));
  const others = [...own, ...acts.filter((k) => !inSight.includes(k))];
  const nodes = (list) =>
    h(
      "div",
      { class: "rp-controls" },
      list.map((k) => controls[k.name].node),
    );
  const parts = { stepping, moved, picture, chosen, said, summary, mark, way, leaving, near };
  el.classList.add("rp");
  el.append(frame(sidecar, colours, wait, { ...parts, inSight: nodes(inSight), others: nodes(others) }));
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
    if (!scene || (model.get("selection")?.row ?? -1) === row) return;
    walk.follow(-1);
    choose(model.get("selection")?.row ?? -1, false);
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
