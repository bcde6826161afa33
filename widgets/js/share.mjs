// What leaves the widget: the address, a command, a file.

import { parse } from "./controls.mjs";

// What follows a key in the address, by name.
export function readQuery(key) {
  const [stem, query] = decodeURIComponent(location.hash.slice(1)).split("?");
  return new URLSearchParams(stem === key ? query : "");
}

// "#tcp-5.17?mtu=4096&seed=2": a key, then only what differs from the defaults.
export function readAddress(key, knobs) {
  const out = {};
  for (const [name, text] of readQuery(key)) {
    const knob = knobs.find((k) => k.name === name);
    const value = knob && parse(knob, text);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

// more: what is none of the knobs, as text by name.
export function writeAddress(key, knobs, values, more = {}) {
  const query = new URLSearchParams();
  for (const k of knobs) if (values[k.name] !== k.default) query.set(k.name, values[k.name]);
  for (const [name, text] of Object.entries(more)) query.set(name, text);
  const hash = String(query) ? `#${key}?${query}` : location.hash.startsWith(`#${key}?`) ? " " : "";
  if (!hash) return;
  try {
    history.replaceState(null, "", hash === " " ? location.pathname + location.search : hash);
  } catch {
    // a document without an address of its own (srcdoc, a sandbox) has nothing to change
  }
}

export const command = (scenario, knobs, values, seed, replications) =>
  [
    `python -m sim run ${scenario}`,
    ...knobs.filter((k) => values[k.name] !== k.default).map((k) => `--${k.name} ${values[k.name]}`),
    `--seed ${seed} --replications ${replications}`,
  ].join(" ");

const field = (x) => (/[",\n]/.test(String(x)) ? `"${String(x).replaceAll('"', '""')}"` : String(x ?? ""));
export const csv = (rows) => rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";

export function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Puts text on the clipboard; false where the browser refuses.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
