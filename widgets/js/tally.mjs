// Times of instructions from the trace ring, as sim/timing.py sums them. A test holds the two equal.

// job.tally: { rows, until }. sidecar.trace: where the ring's words stand, and the addresses of LOCK.
export function createTally(engine, sidecar) {
  const { header } = sidecar.places;
  const { words, locks, size } = sidecar.trace;
  const isLock = new Set(locks);
  const head = (name) => Number(engine.arena[header[name]]);
  const cpus = head("cpus");
  const threads = cpus + head("threads");
  const ring = head("at_trace");
  const rows = head("trace_rows");
  const empty = () => [new Array(size).fill(0), new Array(size).fill(0)];
  const visits = empty();
  const times = empty();
  const spinning = new Map(); // context -> [side, address of its lock, since when]
  let seen = head("trace_count");

  return {
    // After each slice of at most as many instructions as the ring has rows.
    take() {
      const { arena } = engine;
      // Halves of words: a BigInt for each would take longer than the run. Nothing here is negative.
      const half = new Int32Array(arena.buffer, arena.byteOffset, 2 * arena.length);
      const count = head("trace_count");
      for (; seen < count; seen++) {
        const at = 2 * (ring + words.row * (seen % rows));
        const word = (k) => (half[at + 2 * k] >>> 0) + half[at + 2 * k + 1] * 4294967296;
        const context = half[at + 2 * words.context];
        if (context >= threads) continue;
        const side = context < cpus ? 0 : 1;
        const pc = half[at + 2 * words.pc];
        const took = word(words.duration);
        if (spinning.size && spinning.has(context)) {
          const [where, lock, since] = spinning.get(context);
          times[where][lock] += word(words.time) - since;
          spinning.delete(context);
        }
        visits[side][pc]++;
        times[side][pc] += took;
        if (took === 0 && isLock.has(pc)) spinning.set(context, [side, pc, word(words.time)]);
      }
    },
    // In the shape of `Timing.to_dict`; packets and elapsed come from a sample at the end of the window.
    result: ({ metrics }, elapsed) => ({
      visits,
      time_ps: times,
      packets: (metrics[sidecar.trace.packets.metric] * elapsed) / sidecar.trace.packets.scale,
      elapsed_ps: elapsed,
    }),
  };
}
