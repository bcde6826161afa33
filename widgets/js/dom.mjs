// Elements from one call: h("p", { class: "x", onclick: f }, "text", child). `s` does the same for SVG.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

let serial = 0;
// An id that no other widget on the page has.
export const uid = (stem) => `rp-${stem}-${++serial}`;

// Calls `then` with the element's width now and whenever it changes; returns what stops that.
export function onWidth(node, then) {
  let last = 0;
  const seen = () => {
    const width = Math.floor(node.clientWidth);
    if (width && width !== last) then((last = width));
  };
  const observer = typeof ResizeObserver === "function" ? new ResizeObserver(seen) : null;
  if (observer) observer.observe(node);
  else addEventListener("resize", seen);
  seen();
  return () => (observer ? observer.disconnect() : removeEventListener("resize", seen));
}
