// Numbers drawn from words, as sim/exercises/draw.py draws them: splitmix64 from the FNV-1a hash of the words.

const MASK = (1n << 64n) - 1n;

export function hashed(...words) {
  let value = 0xcbf29ce484222325n;
  for (const word of words)
    for (const byte of new TextEncoder().encode(`${word.normalize("NFC")}\0`))
      value = ((value ^ BigInt(byte)) * 0x100000001b3n) & MASK;
  return value;
}

// below(count): an integer from 0 to count - 1, the first of the stream that the words determine.
export function below(count, ...words) {
  let z = (hashed(...words) + 0x9e3779b97f4a7c15n) & MASK;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return Number(((z ^ (z >> 31n)) * BigInt(count)) >> 64n);
}
