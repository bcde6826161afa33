// Keys, mouse and fingers on a picture.

import { h } from "./dom.mjs";

// keys: key -> what to do; ready(): whether there is anything to do it with.
export function onKeys(node, keys, ready) {
  node.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || !ready() || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(event);
  });
}

// clicked(event): a press that did not move. dragged(px, start): a press that does; start is what begun() returned.
// A finger that moves up or down scrolls the page (touch-action in the styles).
export function onPointer(node, { begun, dragged, clicked, ready }) {
  let held = null;
  node.addEventListener("pointerdown", (event) => {
    if (ready()) held = { x: event.clientX, start: begun(), moved: false };
  });
  node.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    const by = event.clientX - held.x;
    if (Math.abs(by) > 4 && !held.moved) {
      held.moved = true;
      node.setPointerCapture(event.pointerId);
    }
    if (held.moved) dragged(by, held.start);
  });
  node.addEventListener("pointercancel", () => (held = null));
  node.addEventListener("pointerup", (event) => {
    const still = held && !held.moved;
    held = null;
    if (still) clicked(event);
  });
}

// A button whose sign is short and whose name says more.
export const sign = (label, words, onclick) =>
  h("button", { type: "button", "aria-label": words, title: words, onclick }, label);
