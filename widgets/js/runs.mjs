// Which engine answers a move, and when: a short run for the first picture, then replications with intervals.
// With a kernel its Numba engine gives the intervals; if it is silent, WebAssembly does, and `where` says so.

import { createPool, refusal } from "./pool.mjs";
import { combine } from "./reduce.mjs";

const PATIENCE = 3000; // ms until a kernel that does not answer is given up for this move
const PAINT = 20; // ms that the first picture has both cores for itself, to reach the screen
const FIRST_PICTURE = 150; // ms for which a first picture is let finish though a later move is there

// sides(values, side) gives the knobs of a run; without it, those of `values` with the switch `arm` off or on.
// more(replication): what a job carries besides; the first picture's is replication -1. show(results, done, sets, extra): sets are the samples behind the results,
// or null when a kernel answered; then extra is what it sent with each.
export function createRuns({ model, sidecar, arm, sides, more = () => ({}), show, failed }) {
  const replications = model.get("replications") ?? 5;
  let live = false;
  let owed = false; // the kernel has not yet answered what it was sent
  let silent = false; // there was a kernel, and it answers no more
  let main = false;
  let values = null;
  let ticket = 0;
  let began = 0;
  let waiting = null;
  let timer = 0;
  let late = 0;
  let later = 0;
  let refine = true; // whether replications follow the first picture, or a kernel's answer does
  let shown = false;
  let drawn = -1; // replications in the last picture
  let quick = [];
  let samples = [[], []];

  const here = () =>
    `WebAssembly, in this page${main ? " without a worker" : ""}${silent ? ": the kernel does not answer" : ""}`;
  let answeredBy = here();

  const knobsOf = (side) => {
    if (sides) return sides(values, side);
    const out = { ...values, [arm]: side };
    delete out.seed;
    return out;
  };
  const about = (side) => ({ knobs: knobsOf(side), seed: values.seed });

  const jobOf = (side, seed, warm, until, isQuick) => ({
    ...more(isQuick ? -1 : seed - values.seed),
    arm: side,
    values: knobsOf(side),
    seed,
    warm,
    until,
    quick: isQuick,
  });
  const first = (side) => [jobOf(side, values.seed, sidecar.quick_warm_ps, sidecar.quick_until_ps, true)];
  const rest = (side) =>
    Array.from({ length: replications }, (_, i) =>
      jobOf(side, values.seed + i, sidecar.warm_ps, sidecar.until_ps, false),
    );

  // Shows what is there: full replications where both arms have some, else the first picture.
  function update() {
    const least = Math.min(samples[0].length, samples[1].length);
    const sets = least ? samples.map((list) => list.slice(0, least)) : quick.map((one) => [one]);
    // Both arms go on together: a sample that waits for its partner changes nothing that is shown.
    if (!sets[0]?.[0] || !sets[1]?.[0] || drawn === least) return;
    drawn = least;
    const done = least === replications;
    if (least) answeredBy = here();
    shown = true;
    show(
      [0, 1].map((side) => combine(sets[side], sidecar, about(side))),
      done,
      sets,
      [],
    );
  }

  function heard(message) {
    if (message.kind === "host") main ||= !message.worker;
    if (message.kind === "failed" && message.ticket === 0)
      failed(`the engine did not start (${message.reason})`, !shown);
    if (message.ticket !== ticket) return;
    if (message.kind === "failed") failed(message.reason, false);
    if (message.kind !== "sample") return;
    const { job } = message;
    if (job.quick) quick[job.arm] = message.sample;
    else samples[job.arm].push(message.sample);
    update();
    if (!job.quick || !quick[0] || !quick[1]) return;
    if (waiting) begin(waiting);
    else if (refine) later = setTimeout(() => (ticket = pool.ask(rest)), PAINT);
  }

  // Sends the knobs to the kernel, one question at a time: a slider asks faster than a kernel runs.
  function tell() {
    if (live && owed) return;
    owed = live;
    model.save_changes();
  }

  function begin(next, alone = false) {
    waiting = null;
    clearTimeout(late);
    values = { ...next };
    began = performance.now();
    quick = [];
    samples = [[], []];
    drawn = -1;
    clearTimeout(timer);
    clearTimeout(later);
    refine = !live || alone;
    if (!alone) tell();
    if (live && !alone) {
      timer = setTimeout(() => {
        live = owed = false;
        silent = true;
        begin(values, true);
      }, PATIENCE);
    }
    if (pool) ticket = pool.ask(first);
    else if (refine) failed(refusal(), !shown);
  }

  // The kernel's answer: both arms, for the knobs it names.
  function answered() {
    const answer = model.get("answer");
    if (!answer?.arms || !values) return;
    owed = false;
    const same =
      answer.seed === values.seed &&
      [0, 1].every((side) =>
        Object.entries(knobsOf(side)).every(([k, v]) => String(answer.arms[side].knobs[k]) === String(v)),
      );
    if (!same) return live ? tell() : undefined;
    live = true;
    silent = false;
    clearTimeout(timer);
    clearTimeout(later);
    answeredBy = "Numba, in the kernel";
    pool?.cancel();
    ticket = -1;
    shown = true;
    show(answer.arms, true, null, answer.extra ?? []);
  }

  const pool = refusal() ? null : createPool(sidecar, 2, heard);
  model.on("change:answer", answered);
  model.on("msg:custom", (message) => {
    if (message.kind !== "live") return;
    live = true;
    answered();
  });
  model.send({ kind: "hello" });

  return {
    where: () => answeredBy,
    ask(next) {
      const left = FIRST_PICTURE - (performance.now() - began);
      if (!values || (quick[0] && quick[1]) || ticket < 1 || left <= 0) return begin(next);
      if (!waiting) late = setTimeout(() => waiting && begin(waiting), left);
      waiting = { ...next };
    },
    close() {
      clearTimeout(timer);
      clearTimeout(late);
      clearTimeout(later);
      pool?.close();
    },
  };
}
