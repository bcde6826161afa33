// A scenario's image with other knobs in it. The words are the ones that Python would have written.

export function imageFromBase64(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new BigInt64Array(bytes.buffer);
}

// The word of a knob's value: choices are stored as their place in the list.
export const word = (knob, value) =>
  BigInt(knob.kind === "choice" ? knob.choices.findIndex((c) => String(c) === String(value)) : Number(value));

export function withKnobs(image, sidecar, values, seed) {
  const out = image.slice();
  for (const knob of sidecar.knobs) {
    if (knob.word !== undefined && knob.word !== null && knob.name in values)
      out[knob.word] = word(knob, values[knob.name]);
  }
  out[sidecar.seed_word] = BigInt(seed);
  return out;
}
