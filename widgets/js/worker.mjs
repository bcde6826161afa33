// Runs the engine in slices, in a worker or (where a browser refuses one) between the page's other work.
// Messages in:  { kind: "start", wasm, sidecar }   { kind: "run", ticket, jobs }   { kind: "cancel" }
// Messages out: { kind: "ready" }   { kind: "sample", ticket, job, sample, ms }   { kind: "done", ticket, ms }
//               { kind: "cancelled", ticket, slices }   { kind: "failed", ticket, reason }
// A job with a `window` is recorded: its sample is a trace (trace.mjs).
// A job is { arm, seed, values, warm, until, quick }, and { tally: { rows, until } } if instructions are to be timed from
// the end of the warm-up: then its sample has `timing`.

import { load } from "./engine.mjs";
import { cells, sample } from "./reduce.mjs";
import { imageFromBase64, withKnobs } from "./spec.mjs";
import { record } from "./trace.mjs";
import { createTally } from "./tally.mjs";

// Short enough that a later move is noticed within a few ms, and that V8 may change to its better code.
export const SLICE = 50_000;

export function serve(post, pause, steps = SLICE) {
  let engine, sidecar, base;
  let latest = 0;
  let tail = Promise.resolve();

  // Runs to `until`; false if a later message made the run needless.
  async function advance(until, ticket, tally, each = () => {}) {
    engine.arena[sidecar.places.header.until] = BigInt(until);
    for (;;) {
      const status = Number(engine.run(steps));
      tally.slices++;
      each();
      if (status > 1) throw new Error(`the run ended early: ${sidecar.places.statuses[status]}`);
      if (status) return true;
      await pause();
      if (ticket !== latest) return false;
    }
  }

  async function replicate(job, ticket, tally) {
    if (job.window) {
      engine.build(withKnobs(base, sidecar, job.values, job.seed));
      return record(engine, sidecar, job.window, { pause, wanted: () => ticket === latest, slice: steps });
    }
    const image = withKnobs(base, sidecar, job.values, job.seed);
    if (job.tally) image[sidecar.trace.knob] = BigInt(job.tally.rows);
    engine.build(image);
    if (job.warm > 0) {
      if (!(await advance(job.warm, ticket, tally))) return null;
      engine.reset();
    }
    const before = cells(engine.arena, sidecar);
    let timing;
    if (job.tally) {
      const times = createTally(engine, sidecar);
      if (!(await advance(job.tally.until, ticket, tally, times.take))) return null;
      timing = times.result(sample(engine.arena, sidecar), job.tally.until - job.warm);
    }
    if (!(await advance(job.until, ticket, tally))) return null;
    return { ...sample(engine.arena, sidecar, before), timing };
  }

  async function run({ ticket, jobs }) {
    const began = performance.now();
    const tally = { slices: 0 };
    try {
      for (const job of jobs) {
        const since = performance.now();
        const got = ticket === latest ? await replicate(job, ticket, tally) : null;
        if (!got) return post({ kind: "cancelled", ticket, slices: tally.slices });
        post({ kind: "sample", ticket, job, sample: got, ms: performance.now() - since });
        await pause();
      }
      post({ kind: "done", ticket, ms: performance.now() - began, slices: tally.slices });
    } catch (error) {
      post({ kind: "failed", ticket, reason: error.message });
    }
  }

  async function start(message) {
    try {
      sidecar = message.sidecar;
      base = imageFromBase64(sidecar.spec_b64);
      engine = await load(message.wasm);
      post({ kind: "ready" });
    } catch (error) {
      post({ kind: "failed", ticket: 0, reason: error.message });
    }
  }

  return (message) => {
    if (message.kind === "start") tail = tail.then(() => start(message));
    else {
      latest = message.kind === "run" ? message.ticket : -1;
      if (message.kind === "run") tail = tail.then(() => run(message));
    }
  };
}

// In a worker, give way through a channel: timers there wait 4 ms, which would halve the speed.
if (typeof WorkerGlobalScope === "function" && globalThis instanceof WorkerGlobalScope) {
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port2.onmessage = () => waiting.shift()();
  const pause = () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port1.postMessage(0);
    });
  const handle = serve((message) => postMessage(message), pause);
  onmessage = (event) => handle(event.data);
}
