// Native controls for knobs, so that every key, a mouse and a finger move them as the reader's system does.
// A control is { node, set(value) }; `moved(value)` is called with a value that the knob allows, and for Escape with
// `home`, where the knob began.

import { h, uid } from "./dom.mjs";

const clamp = (knob, x) => {
  const step = knob.step || 1;
  const near = knob.low + Math.round((x - knob.low) / step) * step;
  return Math.min(knob.high, Math.max(knob.low, near));
};

function frame(knob, input, label, ...rest) {
  const acts = knob.effect === "acts" || knob.effect === undefined;
  const about = h("small", { class: "rp-doc", id: uid("doc") }, acts ? knob.doc : `Does nothing here: ${knob.why}`);
  input.setAttribute("aria-describedby", about.id);
  if (!acts) for (const node of [input, ...rest]) node.disabled = true;
  input.dataset.knob = knob.name;
  return h("div", { class: `rp-control rp-${knob.kind}${acts ? "" : " rp-inert"}` }, label, input, ...rest, about);
}

function toggle(knob, moved) {
  const input = h("input", { type: "checkbox", role: "switch", id: uid("knob") });
  input.addEventListener("change", () => moved(input.checked ? 1 : 0));
  return {
    node: frame(knob, input, h("label", { for: input.id }, h("code", null, knob.name))),
    set: (value) => (input.checked = Boolean(Number(value))),
  };
}

function choice(knob, moved) {
  const input = h(
    "select",
    { id: uid("knob") },
    knob.choices.map((value, at) => h("option", { value }, knob.labels?.[at] ?? String(value))),
  );
  input.addEventListener("change", () => moved(knob.choices[input.selectedIndex]));
  return {
    node: frame(knob, input, h("label", { for: input.id }, h("code", null, knob.name))),
    set: (value) => (input.selectedIndex = knob.choices.findIndex((c) => String(c) === String(value))),
  };
}

function slider(knob, moved) {
  const range = { min: knob.low, max: knob.high, step: knob.step || 1 };
  const input = h("input", { type: "range", id: uid("knob"), ...range });
  const exact = h("input", { type: "number", inputmode: "numeric", ...range });
  exact.setAttribute("aria-label", `${knob.name}, exact value`);
  const unit = knob.unit ? ` ${knob.unit}` : "";
  const show = (value) => {
    exact.value = value;
    input.setAttribute("aria-valuetext", `${value}${unit}`);
  };
  const take = (value) => {
    show(value);
    moved(value);
  };
  input.addEventListener("input", () => take(Number(input.value)));
  exact.addEventListener("change", () => {
    const value = clamp(knob, Number(exact.value));
    input.value = value;
    take(value);
  });
  const label = h(
    "label",
    { for: input.id },
    h("code", null, knob.name),
    unit && h("span", { class: "rp-unit" }, unit),
  );
  return {
    node: frame(knob, input, label, exact),
    set(value) {
      input.value = value;
      show(value);
    },
  };
}

const KINDS = { switch: toggle, int: slider, choice };

export function control(knob, moved, home) {
  const { node, set } = KINDS[knob.kind](knob, moved);
  let now = home;
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && now !== home) moved(home);
  });
  return { node, set: (value) => set((now = value)) };
}

// With which other settings a knob shows, where those in `values` are not they; "" if they are.
export function showsWith(knob, values) {
  const other = Object.entries(knob?.shows_with ?? {}).filter(([name, value]) => String(values[name]) !== String(value));
  return other.length ? `; ${knob.name} shows with ${other.map((pair) => pair.join("=")).join(", ")}` : "";
}

// A value as the knob wants it, or undefined if the knob does not allow it (a link typed by hand, say).
export function parse(knob, text) {
  if (knob.kind === "choice") return knob.choices.find((c) => String(c) === String(text));
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return undefined;
  return clamp(knob.kind === "switch" ? { low: 0, high: 1 } : knob, value);
}
