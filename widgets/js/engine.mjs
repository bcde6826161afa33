// The simulation engine of a page: the WebAssembly module that `sim.wasm.compile` makes, and its memory.
// Works in a page, in a worker made from text (file://) and in node. The class refers to nothing outside
// itself, so `${Engine}` is all of its source that a worker needs.

export class Engine {
  // V8 does not move a call that is running to its better code, so a long call would stay at half the speed.
  static SLICE = 50_000;
  // 64 MB, in words of 8 bytes.
  static LARGEST = 8_388_608;

  #entry;
  #memory;
  #spec = { at: 0, words: 0 };
  #at = 0;
  #words = 0;
  #view = null;

  // bytes: what is in engine.wasm (an ArrayBuffer or a view), or a WebAssembly.Module that is shared by workers.
  static async load(bytes) {
    const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
    let memory;
    const over = () => new Uint8Array(memory.buffer);
    const copy = (to, from, size) => (over().copyWithin(to, from, from + size), to);
    // All that a module may import, as C defines it; the present engine wants none of them.
    const env = {
      fmod: (x, y) => x % y,
      memset: (at, byte, size) => (over().fill(byte, at, at + size), at),
      memcpy: copy,
      memmove: copy,
    };
    const instance = await WebAssembly.instantiate(module, { env });
    memory = instance.exports.memory;
    const [stamp] = WebAssembly.Module.customSections(module, "receive-path");
    return new Engine(instance.exports, stamp ? JSON.parse(new TextDecoder().decode(stamp)) : {});
  }

  constructor({ entry, memory, base }, stamp) {
    this.#entry = entry;
    this.#memory = memory;
    this.#spec.at = base.value;
    // What the module was made from: { sources, compiler, numba, llvmlite }.
    this.stamp = stamp;
  }

  // Makes the arena of a spec image (a BigInt64Array) and returns its size in words. The last arena is gone,
  // and so is every view of it.
  build(spec) {
    if (!(spec instanceof BigInt64Array)) throw new TypeError("a spec is a BigInt64Array");
    this.#words = 0;
    this.#spec.words = spec.length;
    this.#at = Math.ceil((this.#spec.at + spec.byteLength) / 64) * 64;
    this.#grow(this.#at);
    new BigInt64Array(this.#memory.buffer, this.#spec.at, spec.length).set(spec);
    // The engine may need a small arena to find out how large one it needs.
    let words;
    while ((words = this.#call(0)) !== this.#words) {
      if (words < this.#words) throw new RangeError(`the engine refuses this spec (${words})`);
      if (words > Engine.LARGEST) {
        this.#words = 0;
        throw new RangeError(`the arena needs ${Math.ceil(words / 131072)} MB, more than 64`);
      }
      this.#grow(this.#at + words * 8);
      this.#words = words;
    }
    return words;
  }

  // Runs at most so many instructions and returns the status: 0 there is more to do, 1 reached the time,
  // 2 deadlock, 3 livelock, 4 exhausted, 5 halted. Where it was cut into slices makes no difference.
  run(steps = Infinity) {
    if (!this.#words) throw new Error("there is no arena: build one first");
    let status = 0;
    for (let left = steps; left > 0 && status === 0; left -= Engine.SLICE) {
      status = this.#call(Math.min(left, Engine.SLICE));
    }
    return status;
  }

  // Forgets the statistics so far: the end of the warm-up.
  reset() {
    if (!this.#words) throw new Error("there is no arena: build one first");
    this.#call(-1);
  }

  // The arena itself, not a copy: reads see the last slice, writes reach the next.
  get arena() {
    if (this.#view?.buffer !== this.#memory.buffer || this.#view.byteOffset !== this.#at || this.#view.length !== this.#words) {
      this.#view = new BigInt64Array(this.#memory.buffer, this.#at, this.#words);
    }
    return this.#view;
  }

  #call(steps) {
    const { at, words } = this.#spec;
    return Number(this.#entry(this.#at, BigInt(this.#words), at, BigInt(words), BigInt(steps)));
  }

  #grow(end) {
    const missing = Math.ceil((end - this.#memory.buffer.byteLength) / 65536);
    if (missing > 0) this.#memory.grow(missing);
  }
}

export const load = (bytes) => Engine.load(bytes);
