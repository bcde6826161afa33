// A profile as a flame turned upside down: all busy time, below it the layers of the path, below each its symbols.

import { s } from "./dom.mjs";
import { format } from "./scales.mjs";

const ROW = 26;
const LETTER = 6.6;

// shares: symbol -> percent. only: a layer that fills the width, or "". side: told to each entry's name.
export function flame(width, title, shares, palette, only, side) {
  const entries = Object.entries(shares).filter(
    ([name, share]) => share > 0 && (!only || palette.layer(name) === only),
  );
  const layers = palette.layers
    .map((layer) => {
      const inside = entries.filter(([name]) => palette.layer(name) === layer).sort((a, b) => b[1] - a[1]);
      return { layer, inside, share: inside.reduce((sum, [, share]) => sum + share, 0) };
    })
    .filter(({ share }) => share > 0);
  const whole = layers.reduce((sum, { share }) => sum + share, 0) || 1;
  const wide = (share) => (share / whole) * width;

  function cell(name, label, x, row, share, fill) {
    const w = wide(share);
    const fits = Math.floor((w - 6) / LETTER);
    const words = fits >= label.length ? label : fits >= 6 ? `${label.slice(0, fits - 1)}…` : "";
    const text = `${label}: ${format(share)} % of the busy time`;
    return s(
      "g",
      { role: "option", "data-name": `${side}:${name}`, "aria-label": text, class: "rp-cell", "aria-selected": false },
      s("title", null, text),
      s("rect", { x, y: row * ROW, width: Math.max(0, w), height: ROW - 1, fill, class: "rp-part" }),
      words && s("text", { x: x + 3, y: row * ROW + 17, class: "rp-inside" }, words),
    );
  }

  let x = 0;
  const parts = [];
  for (const { layer, inside, share } of layers) {
    parts.push(cell(layer, layer, x, 1, share, palette.fill(palette.example(layer))));
    let at = x;
    for (const [name, part] of inside) {
      if (wide(part) >= 1) parts.push(cell(name, name, at, 2, part, palette.fill(name)));
      at += wide(part);
    }
    x += wide(share);
  }
  return s(
    "svg",
    { width, height: 3 * ROW, viewBox: `0 0 ${width} ${3 * ROW}`, role: "group", "aria-label": title },
    s("rect", { x: 0, y: 0, width, height: ROW - 1, class: "rp-idle" }),
    s("text", { x: 4, y: 17, "aria-hidden": "true" }, title),
    parts,
  );
}
