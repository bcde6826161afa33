// What stands around a timeline's picture: controls above, legend, words and tables below.

import { h, s, uid } from "./dom.mjs";
import { waitPattern } from "./hatch.mjs";

// Knobs of the window, which are no knobs of the scenario.
export function windowKnobs(sidecar, model) {
  const int = (name, low, high, unit, doc) => ({
    name,
    kind: "int",
    low,
    high,
    step: 1,
    unit,
    default: model.get(name),
    doc,
  });
  return [
    int("start_us", 0, sidecar.latest_us, "µs", "Where the window begins, after the start of the run."),
    int("window_us", 1, sidecar.widest_us, "µs", "How long the window is."),
    int("seed", 1, 1_000_000, "", "Seed of the run."),
  ];
}

function legend(colours, wait) {
  const square = s("rect", { width: 14, height: 14, fill: `url(#${wait})` });
  const swatch = s("svg", { width: 14, height: 14, class: "rp-swatch", "aria-hidden": "true" }, square);
  const items = [
    ...colours.layers.map((name) => h("li", null, colours.swatch(colours.example(name)), " ", name)),
    h("li", null, swatch, " waiting: a lock is held, a line is with others"),
    h("li", null, "full height: softirq; lower: a thread; empty: idle or switching"),
  ];
  return h("ul", { class: "rp-legend", "aria-label": "Layers of the receive path" }, items);
}

export function frame(sidecar, colours, wait, parts) {
  const defs = [colours.defs(sidecar.symbols), s("defs", null, waitPattern(wait))];
  const title = uid("title");
  const group = { class: "rp-actions", role: "group", "aria-label": "Stepping and looking" };
  return h(
    "section",
    { class: "rp-lab", "aria-labelledby": title },
    s("svg", { width: 0, height: 0, class: "rp-defs", "aria-hidden": "true" }, defs),
    h("p", { id: title, class: "rp-title" }, `Timeline: ${sidecar.scenario}`),
    parts.inSight,
    h("details", { class: "rp-more" }, h("summary", null, "The window, the seed, and more switches"), parts.others),
    parts.moved,
    h("div", group, parts.stepping),
    parts.picture,
    legend(colours, wait),
    parts.chosen,
    parts.said,
    parts.summary,
    parts.mark,
    parts.way,
    h("div", { class: "rp-actions" }, parts.leaving),
    h("details", { class: "rp-more", open: true }, h("summary", null, "Instructions as a table"), parts.near),
  );
}
