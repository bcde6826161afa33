// The frame of a small figure: controls bound to traits and to the address, a picture that knows its width, the finding
// in words, a table, and what leaves the page. A widget gives its knobs and what to do when one moves.

import { control, parse } from "./controls.mjs";
import { h, onWidth, uid } from "./dom.mjs";
import { copy, csv, download, readAddress, writeAddress } from "./share.mjs";

// name: of the widget in Python. knobs: { name, kind, ... }, each a trait. moved(changed names): after any move.
// draw(): called by start(), and when the width changes. rows(): what the CSV file holds.
// command(): the same run in a shell, if there is one.
// more(): what the address holds besides, as text by name; remember() writes the address when that has changed.
// reset(): called after Reset has taken the knobs back, for what is none of them.
// call(): the figure as Python, if knobs are not all that it takes. key: its name in the address, likewise.
// Escape in any control takes that knob back to where it began.
export function createPanel({ model, el, name, title, knobs, moved, draw, rows, command, extra, after, ...own }) {
  const onPage = model.host === "page";
  const key = own.key ?? name.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
  for (const knob of knobs) knob.default = model.get(knob.name);
  const first = Object.fromEntries(knobs.map((k) => [k.name, k.default]));
  const values = { ...first, ...(onPage ? readAddress(key, knobs) : {}) };
  const controls = {};
  const picture = h("div", { class: "rp-picture" });
  const legend = h("ul", { class: "rp-legend" });
  const summary = h("p", { class: "rp-summary", role: "status", "aria-live": "polite" });
  const mark = h("p", { class: "rp-mark" });
  const numbers = h("div", { class: "rp-numbers" });
  const said = h("span", { class: "rp-said", role: "status" });
  let width = 320;

  function remember() {
    if (onPage) writeAddress(key, knobs, values, own.more?.());
  }

  function move(wanted) {
    const changes = Object.fromEntries(Object.entries(wanted).filter(([k, value]) => values[k] !== value));
    if (!Object.keys(changes).length) return;
    Object.assign(values, changes);
    for (const changed of Object.keys(changes)) {
      controls[changed].set(values[changed]);
      model.set(changed, values[changed]);
    }
    model.save_changes();
    remember();
    said.textContent = "";
    moved(Object.keys(changes));
  }

  for (const knob of knobs) {
    const made = control(knob, (value) => move({ [knob.name]: value }), first[knob.name]);
    controls[knob.name] = made;
    made.set(values[knob.name]);
    model.on(`change:${knob.name}`, () => {
      const value = parse(knob, model.get(knob.name));
      if (value !== undefined && value !== values[knob.name]) move({ [knob.name]: value });
    });
  }

  const text = (value) => (typeof value === "number" ? String(value) : JSON.stringify(value));
  const call = own.call ?? (() => `${name}(${knobs.map((k) => `${k.name}=${text(values[k.name])}`).join(", ")})`);
  const put = async (line) => (said.textContent = (await copy(line)) ? "Copied." : `The browser refused: ${line}`);
  const button = (label, onclick) => h("button", { type: "button", onclick }, label);
  const actions = h(
    "div",
    { class: "rp-actions" },
    button("Reset", () => {
      move({ ...first });
      own.reset?.();
    }),
    button("Copy as Python", () => put(call())),
    command && button("Copy as a command", () => put(command())),
    button("Download CSV", () => download(`${key}.csv`, "text/csv", csv(rows()))),
    said,
  );
  const heading = uid("title");
  el.classList.add("rp");
  el.append(
    h(
      "section",
      { class: "rp-panel", "aria-labelledby": heading },
      h("p", { id: heading, class: "rp-title" }, title),
      extra,
      h(
        "div",
        { class: "rp-controls" },
        knobs.map((k) => controls[k.name].node),
      ),
      picture,
      legend,
      summary,
      mark,
      actions,
      after,
      h("details", { class: "rp-more" }, h("summary", null, "All numbers"), numbers),
    ),
  );
  let unwatch = () => {};
  return {
    values,
    move,
    remember,
    picture,
    legend,
    summary,
    mark,
    numbers,
    width: () => width,
    // Everything that is shown is of the knobs as they are.
    settled: (now = true) => (el.dataset.settled = String(now)),
    // No result: before the first picture the host shows the still one, afterwards the finding says why.
    failed(reason, before) {
      if (before) el.dispatchEvent(new CustomEvent("rp-failed", { detail: reason }));
      summary.textContent = `No result for these settings: ${reason}.`;
    },
    drawn: (detail) => el.dispatchEvent(new CustomEvent("rp-drawn", { bubbles: true, detail })),
    start() {
      let drawn = false;
      unwatch = onWidth(picture, (now) => {
        width = now;
        drawn = true;
        draw();
      });
      if (!drawn) draw(); // JupyterLab renders before the output is in the page: there is no width yet
    },
    close: () => unwatch(),
  };
}
