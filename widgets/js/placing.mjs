// A struct's fields on cache lines: C's rule once more, as sim/placement.py has it. A test holds the two equal.

const up = (at, step) => Math.ceil(at / step) * step;

// order: names of the declarations in their order. of: name -> { size, align } with the natural alignment.
// aligned: names that begin a line. Gives { fields: [{ name, offset, size, line, last }], lines }.
export function place(order, of, aligned, lineBytes) {
  let at = 0;
  const fields = order.map((name) => {
    const { size, align } = of[name];
    const offset = up(at, aligned.includes(name) ? lineBytes : align);
    at = offset + size;
    return {
      name,
      offset,
      size,
      line: Math.floor(offset / lineBytes),
      last: Math.floor((at - 1) / lineBytes),
    };
  });
  return { fields, lines: Math.ceil(up(at, 8) / lineBytes) };
}

// The fields in rows of so many bytes: pieces { field, from, to } by row, holes left out.
export function rows(layout, bytes) {
  const out = [];
  for (const field of layout.fields) {
    for (let at = field.offset; at < field.offset + field.size; ) {
      const row = Math.floor(at / bytes);
      const end = Math.min(field.offset + field.size, (row + 1) * bytes);
      (out[row] ??= []).push({ field, from: at - row * bytes, to: end - row * bytes, first: at === field.offset });
      at = end;
    }
  }
  return out;
}

// Which declarations were moved, and where to: "place~name" joined by blanks. As few as there can be: the others, the
// longest part of the order that is still in sequence, have stayed.
export function movesOf(base, order) {
  const at = order.map((name) => base.indexOf(name));
  const best = at.map(() => ({ length: 1, before: -1 }));
  for (let i = 0; i < at.length; i++)
    for (let j = 0; j < i; j++)
      if (at[j] < at[i] && best[j].length >= best[i].length) best[i] = { length: best[j].length + 1, before: j };
  const stay = new Set();
  let last = best.reduce((most, one, i) => (most < 0 || one.length > best[most].length ? i : most), -1);
  for (; last >= 0; last = best[last].before) stay.add(last);
  return order.flatMap((name, i) => (stay.has(i) ? [] : [`${i}~${name}`])).join(" ");
}

// The order that such text describes; the base's own if it names a field that is not there.
export function orderOf(base, moves) {
  const list = moves.split(" ").filter(Boolean);
  const moved = list.map((one) => [Number(one.split("~")[0]), one.split("~")[1]]);
  if (!moved.every(([place, name]) => Number.isInteger(place) && base.includes(name))) return base;
  const out = base.filter((name) => !moved.some(([, other]) => other === name));
  for (const [place, name] of moved) out.splice(place, 0, name);
  return out.length === base.length ? out : base;
}

// The order with a field moved by so many places, kept within the struct.
export function shifted(order, name, by) {
  const from = order.indexOf(name);
  const to = Math.min(order.length - 1, Math.max(0, from + by));
  const out = order.filter((one) => one !== name);
  out.splice(to, 0, name);
  return out;
}

// The order with a field put before or behind another one.
export function beside(order, name, other, behind) {
  if (name === other) return order;
  const out = order.filter((one) => one !== name);
  out.splice(out.indexOf(other) + (behind ? 1 : 0), 0, name);
  return out;
}
