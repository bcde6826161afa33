// One lane of simulation for each arm: a worker from a blob, or the same code on the main thread.

import { base64 } from "./engine-bytes.mjs";
import { serve } from "./worker.mjs";
import workerSource from "./worker.mjs?source";

const MAIN_SLICE = 20_000; // instructions between two looks at the page's other work: a millisecond or two

// Why WebAssembly cannot be used here, or "" if it can.
export function refusal() {
  if (!base64) return "this copy of the page was built without the simulation engine";
  if (typeof WebAssembly !== "object") return "WebAssembly is off in this browser";
  try {
    new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    return "";
  } catch {
    return "this browser or a policy of this page blocks WebAssembly";
  }
}

function workerLane(post) {
  const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  const worker = new Worker(url, { name: "receive-path" });
  URL.revokeObjectURL(url);
  worker.onmessage = (event) => post(event.data);
  return { send: (m) => worker.postMessage(m), close: () => worker.terminate(), worker };
}

function mainLane(post) {
  const handle = serve(post, () => new Promise((resolve) => setTimeout(resolve)), MAIN_SLICE);
  return { send: handle, close: () => handle({ kind: "cancel" }), worker: null };
}

// lanes: how many. heard(message) is called with every message of `serve`, and `lane` in it.
export function createPool(sidecar, lanes, heard) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const open = [];
  let asked = null;
  let ticket = 0;

  function add(index, make) {
    const began = () => heard({ kind: "host", lane: index, worker: Boolean(open[index].worker) });
    open[index] = make((message) => heard({ ...message, lane: index }));
    // A policy may refuse a worker only after it was made: then its lane starts again here.
    if (open[index].worker) {
      open[index].worker.onerror = (event) => {
        event.preventDefault();
        open[index].close();
        add(index, mainLane);
        if (asked) open[index].send(asked(index));
      };
    }
    open[index].send({ kind: "start", wasm: bytes.buffer.slice(0), sidecar });
    began();
  }

  for (let index = 0; index < lanes; index++) {
    try {
      add(index, workerLane);
    } catch {
      add(index, mainLane);
    }
  }

  return {
    // jobsOf(lane) -> jobs. A run that is on its way gives up at its next slice.
    ask(jobsOf) {
      const mine = ++ticket;
      asked = (lane) => ({ kind: "run", ticket: mine, jobs: jobsOf(lane) });
      open.forEach((lane, index) => lane.send(asked(index)));
      return mine;
    },
    cancel: () => open.forEach((lane) => lane.send({ kind: "cancel" })),
    close: () => open.forEach((lane) => lane.close()),
  };
}
