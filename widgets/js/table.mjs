// A table that scrolls sideways inside its own region, so that a phone's page never does.

import { h } from "./dom.mjs";

export function table(caption, columns, rows) {
  return h(
    "div",
    { class: "rp-scroll", role: "region", tabindex: "0", "aria-label": caption },
    h(
      "table",
      { class: "rp-table" },
      h("caption", null, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((cell, at) => (at ? h("td", null, cell) : h("th", { scope: "row" }, cell))),
          ),
        ),
      ),
    ),
  );
}
