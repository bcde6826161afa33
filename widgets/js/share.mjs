// What leaves the widget: the address, a command, a file.

import { parse } from "./controls.mjs";

// The address has a part for each figure that was moved: [key, query], joined by semicolons.
const parts = () =>
  location.hash
    .slice(1)
    .split(";")
    .map((part) => decodeURIComponent(part).split("?"))
    .filter(([, query]) => query);

// What follows a key in the address, by name.
export const readQuery = (key) => new URLSearchParams(parts().find(([stem]) => stem === key)?.[1]);

// "#tcp-5.17?mtu=4096&seed=2": a key, then only what differs from where the figure began.
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
  const before = parts();
  const after = before.filter(([stem]) => stem !== key);
  if (String(query)) after.push([key, query]);
  if (!before.length && !after.length) return;
  const hash = after.map((part) => part.join("?")).join(";");
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
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
