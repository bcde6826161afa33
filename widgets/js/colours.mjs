// Fills for kernel symbols: a hue and a hatch for each layer of the path, a shade for each symbol in it.
// Two cues besides the label, so that neither colour nor print decides whether a bar can be read.

import { s } from "./dom.mjs";

const HATCH = [
  [],
  ["M0,8 L8,0"],
  ["M0,4 H8"],
  ["M0,0 L8,8"],
  ["M4,0 V8"],
  ["M0,0 L8,8", "M0,8 L8,0"],
  ["M0,2 H8", "M0,6 H8"],
  ["M2,0 V8", "M6,0 V8"],
  ["M1,2 h2", "M5,6 h2"], // grey, of what belongs to no layer
];

export const HUES = HATCH.length;

// symbols: names in their fixed order. layers: symbol -> layer. order: the layers. Gives defs() for one drawing and fill(symbol).
export function palette(symbols, layers, order, prefix) {
  const seen = {};
  const look = {};
  symbols.forEach((name, at) => {
    const layer = layers[name];
    const shade = (seen[layer] = (seen[layer] ?? -1) + 1);
    look[name] = { id: `${prefix}-${at}`, hue: order.indexOf(layer) % HUES, shade: shade % 3, layer };
  });
  const pattern = ({ id, hue, shade }) =>
    s(
      "pattern",
      { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      s("rect", { width: 8, height: 8, class: `rp-hue${hue} rp-shade${shade}` }),
      HATCH[hue].map((d) => s("path", { d, class: "rp-hatch" })),
    );
  return {
    layers: order,
    symbols,
    example: (layer) => symbols.find((name) => look[name].layer === layer),
    layer: (name) => look[name].layer,
    defs: (names) =>
      s(
        "defs",
        null,
        names.map((name) => pattern(look[name])),
      ),
    fill: (name) => `url(#${look[name].id})`,
    swatch: (name) =>
      s(
        "svg",
        { width: 14, height: 14, class: "rp-swatch", "aria-hidden": "true" },
        s("rect", { width: 14, height: 14, fill: `url(#${look[name].id})` }),
      ),
  };
}
