// Runs one case on the page's host under node and prints what came of it as JSON.
//   node run_engine.mjs engine.mjs module.wasm case.json
// A case: { specs: [["1", ...]], slices: [[steps, until or null, reset or not], ...], until_word }. The answer has,
// for each spec, the words, the statuses and the SHA-256 of the arena when it was built and after each slice.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [host, wasm, file] = process.argv.slice(2);
const { load } = await import(pathToFileURL(host));
const engine = await load(readFileSync(wasm));
const { specs, slices, until_word: untilWord } = JSON.parse(readFileSync(file));

function hash({ buffer, byteOffset, byteLength }) {
  return createHash("sha256").update(new Uint8Array(buffer, byteOffset, byteLength)).digest("hex");
}

const answers = specs.map((spec) => {
  const words = engine.build(BigInt64Array.from(spec, BigInt));
  const out = { words, built: hash(engine.arena), statuses: [], hashes: [] };
  for (const [steps, until, reset] of slices) {
    if (until !== null) engine.arena[untilWord] = BigInt(until);
    out.statuses.push(engine.run(steps));
    if (reset) engine.reset();
    out.hashes.push(hash(engine.arena));
  }
  return out;
});
console.log(JSON.stringify({ stamp: engine.stamp, answers }));
