// Records a window of a run instruction by instruction: `sim/trace.py` once more, for pages without Python.
// A test holds the two equal, row by row.

export const COLUMNS = "time took context pc item line before after wait source spin what value to length".split(" ");
const [HERE, CORE, CACHE, MEMORY] = [0, 1, 2, 3];
const LOOK = 250; // instructions between two looks at the clock
const PATIENCE = 10; // ms between two looks at the page's other work

// window: { start, until, room, queues: [set numbers], watch: { set, row, field } or null, events }.
// pause(): gives way; wanted(): whether the trace is still wanted. Null if it is not.
export async function record(engine, sidecar, window, pause, wanted) {
  const { places, ops } = sidecar;
  const H = places.header;
  let a = engine.arena;
  const word = (at) => Number(a[at]);
  const head = (name) => word(H[name]);
  const set = (name, x) => (a[H[name]] = BigInt(x));

  const value = (x) => (typeof x === "number" ? x : word(head("at_value") + x.row));
  const first = (number) => word(head("at_set") + number);
  const { line: L, lock: K, queue: Q, context: X, code: C, trace: T } = places;
  let watch = -1;
  if (window.watch) {
    const lines = sidecar.sets.lines[window.watch.set];
    const at = window.watch.row * value(lines.per_row) + value(lines.fields[window.watch.field]);
    watch = first(lines.at) + L.words * at;
  }

  // Runs to a time without looking; false if nobody wants it any more.
  async function pass(until) {
    set("until", until);
    for (;;) {
      const status = engine.run(50_000);
      if (status) return status;
      await pause();
      if (!wanted()) return -1;
    }
  }

  const ring = head("trace_rows");
  set("trace_rows", 0); // off before the window
  let status = window.start > 0 ? await pass(window.start) : 0;
  if (status < 0) return null;
  set("trace_rows", ring);
  set("until", window.until);
  const begin = window.start;
  const lengths = {};
  for (const number of window.queues) {
    const queue = sidecar.sets.queues[number];
    for (let i = 0; i < value(queue.count); i++) {
      const at = first(queue.at) + Q.words * i;
      lengths[at] = word(at + Q.length);
    }
  }
  const sharers = () => a[watch + L.sharers0] | (a[watch + L.sharers1] << BigInt(L.sharer_bits));
  const owner = watch < 0 ? -1 : word(watch + L.owner);
  const atFirst = watch < 0 ? 0n : sharers();
  const atLine = head("at_line");
  const free = a.slice(atLine, atLine + L.words * head("line_rows"));
  const atCode = head("at_code");
  const atContext = head("at_context");
  const atTrace = head("at_trace");
  const [hit, atomic] = [head("hit_ps"), head("atomic_ps")];
  const fetched = () => [head("transfers"), head("llc_reads"), head("memory_reads")];
  let before = fetched();
  let rows = [];
  const spinning = new Map();
  let lost = 0;
  let kept = 0;

  const register = (context, number) => (number < 0 ? 0 : word(atContext + X.words * context + X.reg + number));

  function lineOf(row, op, code) {
    const at = row.line - atLine + L.free;
    const [was, is] = [Number(free[at]), word(row.line + L.free)];
    free[at] = BigInt(is);
    const now = fetched();
    const [moved, cache, memory] = now.map((x, i) => x - before[i]);
    before = now;
    row.source = memory ? MEMORY : cache ? CACHE : moved ? CORE : HERE;
    if (op !== ops.ACCESS) row.what = word(code + 1) + register(row.context, word(code + 2)) * K.words;
    if (op === ops.LOCK && row.took === 0) {
      row.spin = 1;
      spinning.set(row.context, row);
    } else if (op !== ops.UNLOCK) {
      if (is !== was || row.source !== HERE) row.wait = Math.min(row.took, Math.max(0, was - row.time));
      else {
        const extra = op === ops.LOCK || word(code + 1) === ops.atomic ? atomic : 0;
        row.wait = Math.max(0, row.took - hit - extra);
      }
    }
    if (row.line === watch) row.sharers = sharers();
  }

  function queueOf(row, op, code) {
    row.what = word(code + 1) + register(row.context, word(code + 2)) * Q.words;
    if (op === ops.SPLICE) {
      row.to = word(code + 3) + register(row.context, word(code + 4)) * Q.words;
      row.length = word(row.to + Q.length);
      return;
    }
    row.length = word(row.what + Q.length);
    const wentOn = word(atContext + X.words * row.context + X.pc) === row.pc + 1;
    if (op !== ops.QLEN && wentOn) row.value = register(row.context, word(code + 3));
  }

  const LINES = new Set([ops.ACCESS, ops.LOCK, ops.UNLOCK]);
  const QUEUES = new Set([ops.PUSH, ops.POP, ops.PEEK, ops.SPLICE, ops.QLEN]);

  function step() {
    const count = head("trace_count");
    status = engine.run(1);
    if (head("trace_count") === count) return;
    const at = atTrace + T.words * (count % ring);
    const [time, took, context, pc, item, line, from, after] = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => word(at + i));
    const spun = spinning.get(context);
    if (spun) {
      spun.took = spun.wait = time - spun.time;
      spinning.delete(context);
    }
    const row = { time, took, context, pc, item, line, before: from, after };
    Object.assign(row, { wait: 0, source: HERE, spin: 0, what: -1, value: -1, to: -1, length: -1, sharers: 0n });
    const code = atCode + C.words * pc;
    const op = word(code);
    if (LINES.has(op)) lineOf(row, op, code);
    if (QUEUES.has(op)) queueOf(row, op, code);
    if (op === ops.KEY || (watch >= 0 && line !== watch)) return;
    rows.push(row);
    kept++;
    if (rows.length >= 2 * window.room) {
      lost += rows.length - window.room;
      rows = rows.slice(-window.room);
    }
  }

  if (status <= 1) status = 0;
  let since = performance.now();
  for (let done = 1; status === 0 && kept < window.events; done++) {
    step();
    if (done % LOOK || performance.now() - since < PATIENCE) continue;
    await pause();
    if (!wanted()) return null;
    a = engine.arena;
    since = performance.now();
  }
  if (rows.length > window.room) {
    lost += rows.length - window.room;
    rows = rows.slice(-window.room);
  }
  const end = kept >= window.events || status > 1 ? head("now") : window.until;
  for (const row of spinning.values()) row.took = row.wait = end - row.time;
  const threads = head("cpus") + head("threads");
  await pause();
  if (!wanted()) return null;
  const columns = {};
  for (const name of COLUMNS) {
    const column = (columns[name] = new Float64Array(rows.length));
    for (let i = 0; i < rows.length; i++) column[i] = rows[i][name];
  }
  return {
    columns,
    sharers: watch < 0 ? [] : rows.map((row) => row.sharers),
    lost,
    start: begin,
    end,
    status: places.statuses[status],
    lengths,
    owner,
    atFirst,
    cpus: head("cpus"),
    cores: head("cores"),
    homes: Array.from({ length: head("contexts") }, (_, i) =>
      i < threads ? word(atContext + X.words * i + X.home) : -1,
    ),
    values: Array.from({ length: head("values") }, (_, i) => word(head("at_value") + i)),
    first: Array.from({ length: sidecar.sets.total }, (_, i) => first(i)),
  };
}
