// Records a window of a run instruction by instruction: `sim/trace.py` once more, for pages without Python.
// A test holds the two equal, row by row.

export const COLUMNS = "time took context pc item line before after wait source spin what value to length".split(" ");
const HERE = 0; // then another core, the socket's shared cache, memory
const LOOK = 250; // instructions between two looks at the clock
const PATIENCE = 10; // ms between two looks at the page's other work

// window: { start, until, room, queues: [set numbers], watch: { set, row, field } or null, events }.
// pause(): gives way, after `slice` instructions at most before the window; wanted(): whether the trace is still wanted.
// Null if it is not.
export async function record(engine, sidecar, window, { pause, wanted, slice }) {
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
      const status = engine.run(slice);
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
  const counters = [H.transfers, H.llc_reads, H.memory_reads];
  const fetched = counters.map(word);
  // Columns are rings of `room` rows: objects would cost a hundred times as much to collect.
  const size = Math.min(window.room, window.events);
  const columns = {};
  for (const name of COLUMNS) columns[name] = new Float64Array(size);
  const {
    time,
    took,
    context,
    pc,
    item,
    line,
    before,
    after,
    wait,
    source,
    spin,
    what,
    value: got,
    to,
    length,
  } = columns;
  const copies = []; // sharers after each row, for a watched line
  const spinning = new Map(); // context -> number of the row
  let kept = 0;

  const register = (who, number) => (number < 0 ? 0 : word(atContext + X.words * who + X.reg + number));

  function lineOf(i, op, code) {
    const at = line[i] - atLine + L.free;
    const [was, is] = [Number(free[at]), word(line[i] + L.free)];
    free[at] = BigInt(is);
    for (let k = 0; k < 3; k++) {
      const now = word(counters[k]);
      if (now !== fetched[k]) source[i] = k + 1; // the farthest stands: CORE, CACHE, MEMORY
      fetched[k] = now;
    }
    if (op !== ops.ACCESS) what[i] = word(code + 1) + register(context[i], word(code + 2)) * K.words;
    if (op === ops.LOCK && took[i] === 0) {
      spin[i] = 1;
      spinning.set(context[i], kept);
    } else if (op !== ops.UNLOCK) {
      if (is !== was || source[i] !== HERE) wait[i] = Math.min(took[i], Math.max(0, was - time[i]));
      else {
        const extra = op === ops.LOCK || word(code + 1) === ops.atomic ? atomic : 0;
        wait[i] = Math.max(0, took[i] - hit - extra);
      }
    }
  }

  function queueOf(i, op, code) {
    what[i] = word(code + 1) + register(context[i], word(code + 2)) * Q.words;
    if (op === ops.SPLICE) {
      to[i] = word(code + 3) + register(context[i], word(code + 4)) * Q.words;
      length[i] = word(to[i] + Q.length);
      return;
    }
    length[i] = word(what[i] + Q.length);
    const wentOn = word(atContext + X.words * context[i] + X.pc) === pc[i] + 1;
    if (op !== ops.QLEN && wentOn) got[i] = register(context[i], word(code + 3));
  }

  const LINES = new Set([ops.ACCESS, ops.LOCK, ops.UNLOCK]);
  const QUEUES = new Set([ops.PUSH, ops.POP, ops.PEEK, ops.SPLICE, ops.QLEN]);
  const eight = [time, took, context, pc, item, line, before, after];

  // Ends a row that spun, if it is still there; `more` is 1 while the next row is being written over the oldest.
  function spun(number, end, more) {
    if (number < kept - size + more) return;
    const i = number % size;
    took[i] = wait[i] = end - time[i];
  }

  function step() {
    const count = word(H.trace_count);
    status = engine.run(1);
    if (word(H.trace_count) === count) return;
    const at = atTrace + T.words * (count % ring);
    const i = kept % size; // a row that is not kept is written over by the next
    for (let k = 0; k < 8; k++) eight[k][i] = word(at + k);
    wait[i] = source[i] = spin[i] = 0;
    what[i] = got[i] = to[i] = length[i] = -1;
    if (spinning.has(context[i])) {
      spun(spinning.get(context[i]), time[i], 1);
      spinning.delete(context[i]);
    }
    const code = atCode + C.words * pc[i];
    const op = word(code);
    if (LINES.has(op)) lineOf(i, op, code);
    if (QUEUES.has(op)) queueOf(i, op, code);
    if (op === ops.KEY) return;
    if (watch >= 0) {
      if (line[i] !== watch) return void (spin[i] && spinning.delete(context[i]));
      copies.push(sharers());
    }
    kept++;
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
  const end = kept >= window.events || status > 1 ? head("now") : window.until;
  for (const number of spinning.values()) spun(number, end, 0);
  const threads = head("cpus") + head("threads");
  const rows = Math.min(kept, size);
  const oldest = kept > size ? kept % size : 0;
  const turned = (list) => {
    if (!oldest) return list.slice(0, rows);
    const out = new Float64Array(size);
    out.set(list.subarray(oldest));
    out.set(list.subarray(0, oldest), size - oldest);
    return out;
  };
  return {
    columns: Object.fromEntries(COLUMNS.map((name) => [name, turned(columns[name])])),
    sharers: copies,
    lost: kept - rows,
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
