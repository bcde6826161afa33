// An example of the body of a worker around the class Engine: the newest message wins, and a run that is no
// longer wanted ends at its next slice.
// In: { id, wasm, spec, slice }
// Out: { id, begun: true }, then { id, status, slices, digest } or { id, cancelled: true, slices }

const { port1, port2 } = new MessageChannel();
// Gives way to messages that wait. A timer would do, but waits 4 ms.
const pause = () =>
  new Promise((resolve) => {
    port2.onmessage = resolve;
    port1.postMessage(0);
  });

let latest = 0;
let before = Promise.resolve();

async function run({ id, wasm, spec, slice }) {
  const engine = await Engine.load(wasm);
  engine.build(spec);
  for (let slices = 1; ; slices++) {
    const status = engine.run(slice);
    if (status) {
      const digest = engine.arena.reduce((sum, x) => BigInt.asIntN(64, sum * 31n + x), 0n);
      return postMessage({ id, status, slices, digest });
    }
    if (slices === 1) postMessage({ id, begun: true });
    await pause();
    if (id !== latest) return postMessage({ id, cancelled: true, slices });
  }
}

onmessage = ({ data }) => {
  latest = data.id;
  before = before.then(() => run(data));
};
