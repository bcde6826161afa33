// A trace arranged for looking: which CPU did what when, what waited for what, how long the queues were.

// The first number below `count` for which something holds that holds for all after it.
function lowest(count, ok) {
  let [a, b] = [0, count];
  while (a < b) {
    const m = (a + b) >> 1;
    if (ok(m)) b = m;
    else a = m + 1;
  }
  return a;
}

export function createTracks(trace, names) {
  const c = trace.columns;
  const count = c.time.length;
  const end = (i) => c.time[i] + c.took[i];
  const byCpu = new Map();
  for (let i = 0; i < count; i++) {
    const cpu = trace.homes[c.context[i]];
    if (cpu < 0) continue;
    if (!byCpu.has(cpu)) byCpu.set(cpu, []);
    byCpu.get(cpu).push(i);
  }
  const lanes = [...byCpu.keys()].sort((a, b) => a - b).map((cpu) => ({ cpu, rows: byCpu.get(cpu) }));
  for (const lane of lanes) {
    lane.spans = lane.rows.filter((i) => c.took[i] > 0);
    // what is beyond the window's end does not count
    lane.busy = lane.spans.reduce((sum, i) => sum + Math.min(end(i), trace.end) - c.time[i], 0);
    lane.waited = lane.spans.reduce((sum, i) => sum + Math.min(c.time[i] + c.wait[i], trace.end) - c.time[i], 0);
  }

  const places = Object.keys(trace.lengths).map(Number);
  const kinds = new Map(places.map((place) => [place, names.queueName(place)]));
  // Rows that change the length of a queue that is looked at.
  const pushes = [];
  for (let i = 0; i < count; i++) if (c.length[i] >= 0 && (kinds.has(c.what[i]) || kinds.has(c.to[i]))) pushes.push(i);

  // [ps, length] of all queues of a name together, at the start and at every change.
  function series(name) {
    const now = new Map(
      places.filter((place) => kinds.get(place) === name).map((place) => [place, trace.lengths[place]]),
    );
    let total = [...now.values()].reduce((a, b) => a + b, 0);
    const out = [[trace.start, total]];
    for (const i of pushes) {
      const changes =
        c.to[i] >= 0
          ? [
              [c.what[i], 0],
              [c.to[i], c.length[i]],
            ]
          : [[c.what[i], c.length[i]]];
      for (const [place, length] of changes) {
        if (!now.has(place) || now.get(place) === length) continue;
        total += length - now.get(place);
        now.set(place, length);
        out.push([c.time[i], total]);
      }
    }
    return out;
  }

  return {
    count,
    lanes,
    end,
    series,
    lane: (i) => lanes.find((lane) => lane.cpu === trace.homes[c.context[i]]),
    // Number in `lane.spans` of the first span that ends after a time.
    after: (lane, time) => lowest(lane.spans.length, (at) => end(lane.spans[at]) > time),
    // The last row of a lane that begins at a time or before; else its first.
    at: (lane, time) => lane.rows[Math.max(0, lowest(lane.rows.length, (at) => c.time[lane.rows[at]] > time) - 1)],
    // First row that begins at a time or later.
    from: (time) =>
      Math.min(
        count - 1,
        lowest(count, (i) => c.time[i] >= time),
      ),
    // Rows in which somebody else waits for the line or the lock of a row, while it has it.
    waiters(row) {
      const out = [];
      const lock = c.what[row] >= 0 && c.line[row] >= 0 ? c.what[row] : -1;
      if (c.line[row] < 0) return out;
      for (let i = 0; i < count && c.time[i] < Math.max(end(row), c.time[row] + 1); i++) {
        if (c.context[i] === c.context[row] || c.wait[i] <= 0 || c.time[i] + c.wait[i] <= c.time[row]) continue;
        if (c.spin[i] ? lock >= 0 && c.what[i] === lock : c.line[i] === c.line[row]) out.push(i);
      }
      return out;
    },
    // The row in which the holder took the lock that a row spins for; -1 if that was before the window.
    holder(row) {
      let held = -1;
      for (let i = 0; i < row; i++) {
        if (c.what[i] !== c.what[row] || c.line[i] < 0) continue;
        const op = names.op(c.pc[i]);
        if (op === "LOCK" && !c.spin[i]) held = i;
        if (op === "UNLOCK") held = nextOf(i);
      }
      return held;
    },
  };

  // After an unlock: the spinning row that got the lock, or -1.
  function nextOf(unlock) {
    let got = -1;
    for (let i = 0; i < unlock; i++)
      if (c.spin[i] && c.what[i] === c.what[unlock] && end(i) > c.time[unlock] && (got < 0 || end(i) < end(got)))
        got = i;
    return got;
  }
}
