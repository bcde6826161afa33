// The page's host of the engine under node: one JSON message a line in, one answer a line out.
//   node node.mjs engine.mjs module.wasm until_word now_word

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [host, wasm, untilWord, nowWord] = process.argv.slice(2);
const { load } = await import(pathToFileURL(host));
const engine = await load(readFileSync(wasm));

function advance(steps, until) {
  engine.arena[untilWord] = BigInt(until);
  engine.run(steps);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { spec, warm, steps, until } = JSON.parse(line);
  if (spec) engine.build(BigInt64Array.from(spec, BigInt));
  const began = performance.now();
  if (spec) {
    advance(Infinity, warm);
    engine.reset();
  } else advance(steps, until);
  console.log(JSON.stringify({ ms: performance.now() - began, now: String(engine.arena[nowWord]) }));
}
