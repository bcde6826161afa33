// A struct's fields in rows of bytes, line by line. Every field is an option of one list: a tap or the arrows choose,
// Space or Enter picks up, the arrows move what was picked up, Enter puts it down, Escape puts it back; a finger or a
// mouse drags the chosen field.

import { h, uid } from "./dom.mjs";
import { beside, rows, shifted } from "./placing.mjs";

const NARROW = 520; // px: below it a row holds 16 bytes, so that names can be read
const SLOP = 5; // px that a pointer may move before it drags

// about(name) -> { kind, words }: how a field looks (touched, used, idle) and what is said of it.
// lineIn(order, name): where it would lie. changed(order) after every move; chosen(name) after every choice.
export function createFieldGrid({ label, lineBytes, about, lineIn, changed, chosen, said }) {
  const prefix = uid("field");
  const node = h("div", { class: "rp-struct", role: "listbox", "aria-label": label, tabindex: -1 });
  let layout, order, selection, all, width;
  let picked = null; // the order to which Escape goes back
  let drag = null;

  const id = (name) => `${prefix}-${order.indexOf(name)}`;
  const bytes = () => (width < NARROW ? 16 : 32);

  function piece({ field, from, to, first }) {
    const { kind, words } = about(field.name);
    const mine = field.name === selection;
    const more = first
      ? {
          id: id(field.name),
          role: "option",
          "aria-selected": String(mine),
          "aria-label": `${field.name}, ${words}`,
          tabindex: mine ? 0 : -1,
        }
      : { "aria-hidden": "true" };
    const held = mine && picked ? " rp-picked" : "";
    return h(
      "div",
      {
        ...more,
        class: `rp-field rp-${kind}${mine ? " rp-chosen" : ""}${held}`,
        style: `grid-column: ${from + 1} / ${to + 1}`,
        title: `${field.name}: offset ${field.offset}, ${field.size} bytes; ${words}`,
        "data-field": field.name,
      },
      to - from < 3 ? "" : first ? field.name : `…${field.name}`,
    );
  }

  function lineGroup(line, pieces) {
    const per = lineBytes / bytes();
    const touched = layout.fields.some(
      (f) => f.line <= line && line <= f.last && about(f.name).kind === "touched",
    );
    const where = `line ${line}, bytes ${line * lineBytes} to ${(line + 1) * lineBytes - 1}`;
    const cells = [];
    for (let row = line * per; row < (line + 1) * per; row++) {
      cells.push(
        h(
          "div",
          { class: "rp-bytes", role: "presentation", style: `grid-template-columns: repeat(${bytes()}, 1fr)` },
          (pieces[row] ?? []).map(piece),
        ),
      );
    }
    return h(
      "div",
      { class: `rp-line${touched ? " rp-line-touched" : ""}`, role: "group", "aria-label": where },
      h("div", { class: "rp-line-name", "aria-hidden": "true" }, where, touched && h("strong", null, " touched")),
      cells,
    );
  }

  function draw(next) {
    const held = node.contains(document.activeElement);
    ({ layout, order, selection, all, width } = next);
    const pieces = rows(layout, bytes());
    // All that is touched, and what lies between; the rest of a large struct in a few words.
    const wanted = layout.fields.filter((f) => all || about(f.name).kind === "touched");
    const [low, high] = [Math.min(...wanted.map((f) => f.line)), Math.max(...wanted.map((f) => f.last))];
    const chosenField = layout.fields.find((f) => f.name === selection);
    const shown = new Set();
    for (let line = 0; line < layout.lines; line++)
      if (all || (low <= line && line <= high) || (chosenField.line <= line && line <= chosenField.last))
        shown.add(line);
    const parts = [];
    for (let line = 0; line < layout.lines; line++) {
      if (shown.has(line)) {
        parts.push(lineGroup(line, pieces));
        continue;
      }
      const from = line;
      while (line + 1 < layout.lines && !shown.has(line + 1)) line++;
      const fields = layout.fields.filter((f) => f.last >= from && f.line <= line).length;
      const lines = from === line ? `line ${from}` : `lines ${from} to ${line}`;
      parts.push(
        h(
          "p",
          { class: "rp-skipped", role: "presentation" },
          `${lines}: ${fields} fields, none touched by the chosen function`,
        ),
      );
    }
    node.replaceChildren(...parts);
    if (held) focus();
  }

  const focus = () => node.querySelector(`#${id(selection)}`)?.focus();

  function choose(name) {
    if (!name || name === selection) return;
    put();
    chosen(name);
    focus();
  }

  function to(next) {
    if (next.every((name, at) => name === order[at])) return;
    changed(next);
    const f = layout.fields.find((one) => one.name === selection);
    said(`${selection}: offset ${f.offset}, line ${f.line}.`);
  }

  function put() {
    if (picked) said(`${selection} stays here.`);
    picked = null;
  }

  // Names in the order in which they stand on the screen; hidden lines are stepped over unless something is moved.
  const visible = () => [...node.querySelectorAll('[role="option"]')].map((one) => one.dataset.field);

  // The first field of the line after (or before) the one on which the chosen field lies.
  function acrossLines(by, names) {
    const at = layout.fields.find((f) => f.name === selection).line;
    const list = by > 0 ? names : [...names].reverse();
    const line = (name) => layout.fields.find((f) => f.name === name).line;
    const there = list.find((name) => (by > 0 ? line(name) > at : line(name) < at));
    return there && names.find((name) => line(name) === line(there));
  }

  // The order in which the picked field is just on another line.
  function toOtherLine(by) {
    const here = lineIn(order, selection);
    for (let places = 1; places < order.length; places++) {
      const next = shifted(order, selection, by * places);
      if (lineIn(next, selection) !== here) return next;
    }
    return shifted(order, selection, by * Infinity);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const page = { PageUp: -1, PageDown: 1 }[event.key];
    const ends = { Home: -Infinity, End: Infinity }[event.key];
    const names = picked ? order : visible();
    if (event.key === "Escape" && drag?.on) {
      changed(drag.before);
      drag = null;
    } else if (event.key === "Escape" && picked) {
      const back = picked;
      picked = null;
      changed(back);
      said(`${selection} is back.`);
    } else if (event.key === " " || event.key === "Enter") {
      if (picked) put();
      else {
        picked = [...order];
        said(`${selection} is picked up: move it with the arrows, put it down with Enter, back with Escape.`);
      }
      changed(order);
    } else if (step !== undefined && picked) to(shifted(order, selection, step));
    else if (ends !== undefined && picked) to(shifted(order, selection, ends));
    else if (page !== undefined && picked) to(toOtherLine(page));
    else if (step !== undefined) choose(names[names.indexOf(selection) + step]);
    else if (ends !== undefined) choose(names.at(ends < 0 ? 0 : -1));
    else if (page !== undefined) choose(acrossLines(page, names));
    else return;
    event.preventDefault();
  }

  // --- a pointer ----------------------------------------------------------------------------------
  const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-field]");

  function down(event) {
    const field = event.target.closest("[data-field]");
    if (!field || event.button) return;
    const name = field.dataset.field;
    // A finger that did not choose before it moves is scrolling the page.
    const may = event.pointerType !== "touch" || name === selection;
    drag = may ? { name, x: event.clientX, y: event.clientY, before: [...order] } : null;
    if (name !== selection) choose(name);
    if (drag) node.setPointerCapture(event.pointerId);
    event.preventDefault();
    focus();
  }

  function drags(event) {
    if (!drag) return;
    if (!drag.on && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < SLOP) return;
    drag.on = true;
    const other = under(event);
    if (!other || !node.contains(other) || other.dataset.field === drag.name) return;
    const box = other.getBoundingClientRect();
    to(beside(order, drag.name, other.dataset.field, event.clientX > box.left + box.width / 2));
  }

  function ended(event) {
    if (drag && event.type === "pointercancel" && drag.on) changed(drag.before);
    drag = null;
  }

  node.addEventListener("keydown", key);
  node.addEventListener("pointerdown", down);
  node.addEventListener("pointermove", drags);
  node.addEventListener("pointerup", ended);
  node.addEventListener("pointercancel", ended);
  return { node, draw, move: to };
}
