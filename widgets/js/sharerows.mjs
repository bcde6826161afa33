// The rows of a profile: a name, its bars or its change, and both numbers.

import { h } from "./dom.mjs";
import { format, ticks } from "./scales.mjs";
import { bars, gap } from "./sharebars.mjs";
import { SIDES, signed } from "./shareview.mjs";

const LEAST = 0.05; // % below which a symbol is left to the table
const NARROW = 560; // px
const COLUMNS = 380; // px of name and numbers beside the bars

// A sum's name as long as a row allows; the whole of it is said and stands in the table.
function brief(name) {
  const parts = name.split("+");
  if (parts.length < 2) return name;
  return `sum: ${parts.length > 3 ? `${parts[0]} + ${parts.length - 1} more` : parts.join(" + ")}`;
}

// view: of shareView. isGap: changes instead of shares. selection: a name that is shown however small it is.
export function shareRows(view, { width, isGap, selection, swatch }) {
  const { mean, delta, marksOf, words } = view;
  const names = view.names.filter(
    (name) => name === selection || marksOf(name).some(Boolean) || Math.max(mean(0, name), mean(1, name)) >= LEAST,
  );
  const reach = (name) =>
    isGap
      ? [Math.abs(delta(name).mean)]
      : [mean(0, name), mean(1, name), ...marksOf(name).map((row) => row?.reported ?? 0)];
  const most = Math.max(0.1, ...names.flatMap(reach));
  const high = isGap ? most * 1.1 : ticks(most * 1.02).at(-1);
  const room = width < NARROW ? width - 16 : width - COLUMNS;
  return names.map((name) => {
    const shares = SIDES.map((side) => view.drawnShare(side, name));
    const numbers = isGap
      ? `${signed(delta(name).mean)} points`
      : `${format(mean(0, name))} → ${format(mean(1, name))} %`;
    return h(
      "div",
      { role: "option", class: "rp-share", "data-name": name, "aria-label": words(name), title: words(name) },
      h("span", { class: "rp-share-name" }, swatch(name), " ", h("code", null, brief(name))),
      isGap ? gap(view.drawnChange(name), room, high) : bars(shares, marksOf(name), room, high),
      h("span", { class: "rp-share-value" }, numbers),
    );
  });
}
