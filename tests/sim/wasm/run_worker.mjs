// Starts the example worker from text, as a page does, lets a second message overtake a run, and prints
// the answers as JSON.   node run_worker.mjs engine.mjs example_worker.js module.wasm long.json short.json

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const [host, body, wasm, long, short] = process.argv.slice(2);
const { Engine } = await import(pathToFileURL(host));
const spec = (file) => BigInt64Array.from(JSON.parse(readFileSync(file)), BigInt);

// What a browser's worker has and node's spells otherwise.
const shim = `
  const port = require("node:worker_threads").parentPort;
  globalThis.postMessage = (message) => port.postMessage(message);
  port.on("message", (data) => onmessage({ data }));
`;
const worker = new Worker(`${shim}${Engine}\n${readFileSync(body)}`, { eval: true });
const answers = [];
const module = await WebAssembly.compile(readFileSync(wasm));
const send = (id, file) => worker.postMessage({ id, wasm: module, spec: spec(file), slice: Engine.SLICE });
worker.on("message", (answer) => {
  if (answer.begun) {
    if (answer.id === 1) send(2, short);
    return;
  }
  answers.push({ ...answer, digest: String(answer.digest) });
  if (answer.id === 2) {
    console.log(JSON.stringify(answers));
    worker.terminate();
  }
});
send(1, long);
