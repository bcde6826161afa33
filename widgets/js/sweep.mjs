// Many runs of one image for one picture: short ones first, then replications. A move while the first picture is on its
// way waits for it, but not for long; any other move ends what is running.

import { createPool, refusal } from "./pool.mjs";

const PAINT = 20; // ms that the first picture has the cores for itself, to reach the screen
const FIRST_PICTURE = 150; // ms for which a first picture is let finish though a later move is there

// jobs(values, quick) -> jobs of `worker.mjs`. show(samples in the order of the jobs, values, whether they are the last).
export function createSweep({ sidecar, lanes = 2, jobs, show, failed }) {
  let ticket = -1;
  let quick = false; // a first picture is on its way
  let values = null;
  let waiting = null;
  let began = 0;
  let left = 0;
  let samples = [];
  let shown = false;
  let main = false;
  let later = 0;
  let late = 0;

  function run(first) {
    const all = jobs(values, first).map((job, at) => ({ ...job, quick: first, at }));
    quick = first;
    samples = Array(all.length);
    left = lanes;
    ticket = pool.ask((lane) => all.filter((job) => job.at % lanes === lane));
  }

  function begin(next) {
    clearTimeout(later);
    clearTimeout(late);
    waiting = null;
    values = { ...next };
    began = performance.now();
    run(true);
  }

  function finished() {
    const first = quick;
    quick = false;
    shown = true;
    show(samples, values, !first);
    if (!first) return;
    if (waiting) begin(waiting);
    else later = setTimeout(() => run(false), PAINT);
  }

  function heard(message) {
    if (message.kind === "host") main ||= !message.worker;
    if (message.kind === "failed" && (message.ticket === 0 || message.ticket === ticket)) failed(message.reason, !shown);
    if (message.ticket !== ticket) return;
    if (message.kind === "sample") samples[message.job.at] = message.sample;
    if (message.kind === "done" && --left === 0) finished();
  }

  const pool = refusal() ? null : createPool(sidecar, lanes, heard);
  return {
    where: () => `WebAssembly, in this page${main ? " without a worker" : ""}`,
    ask(next) {
      if (!pool) return failed(refusal(), !shown);
      const wait = FIRST_PICTURE - (performance.now() - began);
      if (!quick || wait <= 0) return begin(next);
      if (!waiting) late = setTimeout(() => waiting && begin(waiting), wait);
      waiting = { ...next };
    },
    close() {
      clearTimeout(later);
      clearTimeout(late);
      pool?.close();
    },
  };
}
