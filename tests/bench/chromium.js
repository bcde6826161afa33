// The page of the bench: the engine in a worker from a blob, in slices that give way to messages, as a lab runs it.
// The page declares ENGINE (source text) and the words UNTIL and NOW. bench.ask({ act, ... }) resolves to the
// worker's { ms, now }.

const body = `${ENGINE}
const { port1, port2 } = new MessageChannel();
const pause = () => new Promise((resolve) => {
  port2.onmessage = resolve;
  port1.postMessage(0);
});
let engine;

async function advance(steps, until) {
  engine.arena[${UNTIL}] = BigInt(until);
  let status = 0;
  for (let left = steps; left > 0 && status === 0; left -= Engine.SLICE) {
    status = engine.run(Math.min(left, Engine.SLICE));
    await pause();
  }
  if (status > 1) throw new Error("the run ended early: " + status);
}

const acts = {
  async start({ wasm }) {
    engine = await Engine.load(wasm);
  },
  async build({ spec, warm }) {
    engine.build(BigInt64Array.from(spec, BigInt));
    await advance(Infinity, warm);
    engine.reset();
  },
  turn: ({ steps, until }) => advance(steps, until),
  async replicate({ spec, warm, until }) {
    await acts.build({ spec, warm });
    await advance(Infinity, until);
  },
};

onmessage = async ({ data }) => {
  try {
    const began = performance.now();
    await acts[data.act](data);
    const ms = performance.now() - began;
    postMessage({ ms, now: engine.arena.length ? String(engine.arena[${NOW}]) : "" });
  } catch (error) {
    postMessage({ failed: error.message });
  }
};`;

const worker = new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));

globalThis.bench = {
  ask: (message) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.failed ? reject(new Error(data.failed)) : resolve(data));
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage(message);
    }),
};
