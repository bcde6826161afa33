// Both listings side by side, row by row, equal stretches folded. Arrows up and down go from row to row, left and
// right from difference to difference; Enter unfolds or chooses, Escape lets go.

import { h } from "./dom.mjs";
import { folded } from "./programrows.mjs";
import { symbolLink } from "./terms.mjs";

const SIDES = [0, 1];
const SIDE = ["b", "a"]; // classes of cells: before, after
const SIGNS = { removed: "−", added: "+", changed: "~", same: "" };
const PAGE = 10; // rows that PageDown goes on

export const textOf = (row, side) => (side ? row.after : row.before);

// ns(row, side): a row's time in words. sum(rows, side): a fold's. chosen(address): -1 for none.
export function createProgramList({ ns, sum, chosen }) {
  const node = h("div", {
    class: "rp-diff",
    role: "treegrid",
    tabindex: -1,
    "aria-label": "Both programs, instruction by instruction",
  });
  let key = "";
  let rows = [];
  let shown = [];
  let open = new Set();
  let focused = 0; // place in `shown`
  let selection = -1;

  const span = (look, ...inside) => h("span", { role: "gridcell", class: look }, inside);

  function cells(row, side) {
    const text = textOf(row, side);
    const sign = SIGNS[row.kind] && `${SIGNS[row.kind]} `;
    if (text === null) return [span(`rp-ns rp-${SIDE[side]}`), span(`rp-code rp-${SIDE[side]} rp-absent`)];
    return [
      span(`rp-ns rp-${SIDE[side]}`, ns(row, side)),
      span(`rp-code rp-${SIDE[side]}`, h("b", null, sign), `${row.op} ${text}`),
    ];
  }

  const said = (row) =>
    SIDES.map((side) => {
      const cost = textOf(row, side) === null ? "absent" : `${ns(row, side)} ns a packet`;
      return `${side ? "after" : "before"} ${cost}`;
    }).join(", ");

  function fold(row, at, tabindex) {
    const isOpen = open.has(row.fold);
    const words = `${isOpen ? "▾ hide" : "▸ show"} ${row.rows.length} equal instructions`;
    const costs = `(${sum(row.rows, 0)} ns before, ${sum(row.rows, 1)} ns after)`;
    return h(
      "div",
      { role: "row", class: "rp-fold", tabindex, "data-at": at, "aria-expanded": String(isOpen) },
      span("", `${words} ${costs}`),
    );
  }

  function line(row, at, symbol) {
    const tabindex = at === focused ? 0 : -1;
    if (row.fold !== undefined) return fold(row, at, tabindex);
    return h(
      "div",
      {
        role: "row",
        class: `rp-row rp-${row.kind}`,
        tabindex,
        "data-at": at,
        "aria-selected": String(row.address === selection),
        "aria-label": `${row.kind}: ${row.op} ${row.before ?? row.after}, in ${row.symbol}; ${said(row)}`,
      },
      row.labels.length > 0 && span("rp-label-name", row.labels.map((name) => `${name}: `).join("")),
      cells(row, 0),
      cells(row, 1),
      span("rp-symbol", row.symbol === symbol ? "" : symbolLink(row.symbol, { tabindex: -1 })),
    );
  }

  function head() {
    const columns = [
      ["ns before", "rp-ns rp-b", "before, ns for one packet"],
      [`${key}=0`, "rp-code rp-b"],
      ["ns after", "rp-ns rp-a", "after, ns for one packet"],
      [`${key}=1`, "rp-code rp-a"],
      ["symbol", "rp-symbol"],
    ];
    return h(
      "div",
      { role: "row", class: "rp-row rp-head" },
      columns.map(([name, look, label]) =>
        h("span", { role: "columnheader", class: look, "aria-label": label }, name),
      ),
    );
  }

  function draw() {
    const held = node.contains(document.activeElement);
    shown = folded(rows, open);
    focused = Math.max(0, Math.min(focused, shown.length - 1));
    node.replaceChildren(head(), ...shown.map((row, at) => line(row, at, shown[at - 1]?.symbol)));
    if (held) focus();
  }

  const focus = () => node.querySelector(`[data-at="${focused}"]`)?.focus();

  function go(to) {
    focused = Math.max(0, Math.min(shown.length - 1, to));
    for (const one of node.querySelectorAll("[data-at]"))
      one.tabIndex = Number(one.dataset.at) === focused ? 0 : -1;
    focus();
  }

  function choose(address) {
    selection = address;
    chosen(address);
    draw();
  }

  function act(at) {
    const row = shown[at];
    if (!row) return;
    focused = at;
    if (row.fold === undefined) choose(row.address);
    else if (!open.delete(row.fold)) open.add(row.fold);
    draw();
    focus();
  }

  // The next row that differs, or -1.
  function difference(by) {
    for (let at = focused + by; shown[at]; at += by)
      if (shown[at].fold === undefined && shown[at].kind !== "same") return at;
    return focused;
  }

  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = {
      ArrowDown: () => focused + 1,
      ArrowUp: () => focused - 1,
      ArrowRight: () => difference(1),
      ArrowLeft: () => difference(-1),
      PageDown: () => focused + PAGE,
      PageUp: () => focused - PAGE,
      Home: () => 0,
      End: () => shown.length - 1,
    }[event.key];
    if (to) go(to());
    else if (event.key === "Enter" || event.key === " ") act(focused);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  });
  node.addEventListener("click", (event) => {
    const row = event.target.closest("[data-at]");
    if (row && !event.target.closest("a")) act(Number(row.dataset.at));
  });

  return {
    node,
    draw,
    // Another program: everything folded, the first row in reach.
    show(nextKey, nextRows) {
      [key, rows, open, focused] = [nextKey, nextRows, new Set(), 0];
    },
    select: (address) => (selection = address),
  };
}
