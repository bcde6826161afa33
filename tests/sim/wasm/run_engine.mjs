// Runs one case on the page's host under node and prints what came of it as JSON.
//   node run_engine.mjs engine.mjs module.wasm case.json
// A case: { specs: [[...]], slices: [...], reset_after: n }; the answer: for each spec the statuses and, for
// each slice, the SHA-256 of the arena.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [host, wasm, file] = process.argv.slice(2);
const { load } = await import(pathToFileURL(host));
const engine = await load(readFileSync(wasm));
const { specs, slices, reset_after: resetAfter } = JSON.parse(readFileSync(file));

const hash = (arena) => createHash("sha256").update(new Uint8Array(arena.buffer, arena.byteOffset, arena.byteLength)).digest("hex");
const answers = specs.map((spec) => {
  const words = engine.build(BigInt64Array.from(spec, BigInt));
  const out = { words, built: hash(engine.arena), statuses: [], hashes: [] };
  slices.forEach((steps, index) => {
    out.statuses.push(engine.run(steps));
    if (index === resetAfter) engine.reset();
    out.hashes.push(hash(engine.arena));
  });
  return out;
});
console.log(JSON.stringify({ stamp: engine.stamp, answers }));
