// Asks the page's host for what it must refuse, and prints the reasons as JSON.
//   node run_refusals.mjs engine.mjs toy.wasm

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [host, wasm] = process.argv.slice(2);
const { load } = await import(pathToFileURL(host));
const engine = await load(readFileSync(wasm));

function reason(ask) {
  try {
    return `no refusal: ${ask()}`;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const spec = (words) => BigInt64Array.from([words, 1, 2, 3, 1000], BigInt);
const reasons = {
  early: reason(() => engine.run(10)),
  numbers: reason(() => engine.build([100, 1, 2, 3])),
  large: reason(() => engine.build(spec(8_388_609))),
  after: reason(() => engine.reset()),
};
engine.build(spec(100));
reasons.fine = engine.run();
console.log(JSON.stringify(reasons));
