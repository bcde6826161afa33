// A kernel symbol as a link to its entry in the glossary, where the page's book has one.

import { h } from "./dom.mjs";

// The book's build writes a script that says which symbols have an entry, and where (see receive_path_book.terms).
function address(name) {
  const places = globalThis.receivePathTerms;
  const place = places?.[name] ?? places?.[`${name}()`];
  return place && (document.documentElement.dataset.content_root ?? "./") + place;
}

export function symbolLink(name, more) {
  const bare = name.replace(/ .*$/, ""); // "_raw_spin_lock (tpacket_rcv)" is _raw_spin_lock
  const code = h("code", null, name);
  const href = address(bare);
  return href ? h("a", { href, ...more }, code) : code;
}
