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
