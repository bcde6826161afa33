// From an arena to a result: the arithmetic of sim/result.py once more, for pages without Python. Names are
// resolved to places by the sidecar. A test holds the two equal on the same arenas.

// The table cells that a sidecar names, a list of rows each; what counts is since `before` if that is given.
export function cells(arena, sidecar, before) {
  const word = (at) => Number(arena[at]);
  const { header } = sidecar.places;
  const out = {};
  for (const [name, cell] of Object.entries(sidecar.cells ?? {})) {
    const first = word(word(header.at_set) + cell.table) + cell.column;
    out[name] = Array.from({ length: word(word(header.at_value) + cell.count) }, (_, i) => {
      const now = word(first + cell.columns * i);
      return before && cell.counts ? now - before[name][i] : now;
    });
  }
  return out;
}

// One replication: plain numbers, ready to be sent to another thread.
export function sample(arena, sidecar, before) {
  const { places } = sidecar;
  const word = (at) => Number(arena[at]);
  const head = (name) => word(places.header[name]);
  const until = head("until");
  const elapsed = until - head("reset_time");
  const value = (row) => word(head("at_value") + row);

  // Offsets of the rows of a set of queues or locks.
  function rows(set, count, words) {
    const first = word(head("at_set") + set);
    return Array.from({ length: value(count) }, (_, i) => first + words * i);
  }

  function term(t) {
    if ("time" in t) return elapsed;
    if ("stat" in t) return word(head("at_stat") + t.stat);
    if ("header" in t) return word(t.header);
    let sum = 0;
    if ("queue" in t) {
      const q = places.queue;
      for (const at of rows(t.queue, t.count, q.words))
        sum += word(at + q.area) + word(at + q.length) * Math.max(0, until - word(at + q.since));
    } else if ("line" in t) {
      const first = word(head("at_set") + t.line);
      for (let i = 0; i < value(t.count) * value(t.per_row); i++)
        sum += word(first + places.line.words * i + places.line.transfers);
    } else {
      for (const at of rows(t.lock, t.count, places.lock.words)) sum += word(at + places.lock.wait);
    }
    return sum;
  }

  const total = (terms) => terms.reduce((sum, t) => sum + term(t), 0);
  const metrics = {};
  const resolution = {};
  for (const m of sidecar.metrics) {
    const top = total(m.numerator);
    const bottom = total(m.denominator);
    const events = total(m.events);
    const piece = events ? top / events : 1;
    metrics[m.name] = bottom ? (m.scale * top) / bottom : 0;
    resolution[m.name] = bottom ? (Math.abs(m.scale) * piece) / bottom : Math.abs(m.scale);
  }

  const cpu = {};
  const profile = {};
  for (const role of sidecar.roles) {
    const number = value(role.value);
    const size = sidecar.symbols.length;
    const softirq = head("at_profile") + number * size;
    const thread = softirq + head("cpus") * size;
    const times = sidecar.symbols.map((_, k) => word(softirq + k) + word(thread + k));
    const busy = times.reduce((a, b) => a + b, 0);
    const base = head("at_cpu") + places.cpu.words * number;
    let idle = word(base + places.cpu.idle);
    if (word(base + places.cpu.state) === places.cpu.idle_state)
      idle += Math.max(0, until - word(base + places.cpu.idle_since));
    cpu[role.name] = busy + idle ? (100 * busy) / (busy + idle) : 0;
    profile[role.name] = {};
    sidecar.symbols.forEach((name, k) => {
      if (times[k]) profile[role.name][name] = (100 * times[k]) / busy;
    });
  }
  return { metrics, resolution, cpu, profile, cells: cells(arena, sidecar, before), steps: head("steps") };
}

const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length;

export function estimate(xs, resolution, student) {
  const n = xs.length;
  const middle = mean(xs);
  let half = resolution / n;
  if (n > 1) {
    const variance = xs.reduce((a, x) => a + (x - middle) ** 2, 0) / (n - 1);
    half = Math.max(half, student[Math.min(n - 1, student.length) - 1] * Math.sqrt(variance / n));
  } else {
    half = Math.max(half, Math.abs(middle)); // one replication says nothing about the spread
  }
  return { mean: middle, low: middle - half, high: middle + half };
}

// Replications together, in the shape of `python -m sim run --json`.
export function combine(samples, sidecar, about) {
  const metrics = {};
  for (const { name, unit } of sidecar.metrics) {
    const resolution = Math.max(...samples.map((x) => x.resolution[name]));
    metrics[name] = {
      ...estimate(
        samples.map((x) => x.metrics[name]),
        resolution,
        sidecar.student_t,
      ),
      unit,
    };
  }
  const cpu = {};
  const profile = {};
  for (const { name: role } of sidecar.roles) {
    cpu[role] = mean(samples.map((x) => x.cpu[role]));
    const names = new Set(samples.flatMap((x) => Object.keys(x.profile[role])));
    const shares = [...names].map((name) => [name, mean(samples.map((x) => x.profile[role][name] ?? 0))]);
    profile[role] = Object.fromEntries(shares.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
  }
  return {
    scenario: sidecar.scenario,
    ...about,
    replications: samples.length,
    engine: "page",
    engine_hash: sidecar.engine_hash,
    metrics,
    cpu,
    profile,
  };
}
