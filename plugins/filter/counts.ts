const FAULTS = 0;
const BLOCKS = 1;
const WORDS = 2;
/** More filter plugins than anybody loads. */
export const FILTERS_MAX = 256;

/** How often each filter plugin, by its number, did what it must not on one thread. That thread alone writes. */
export class FilterCounts {
  readonly #words: Int32Array;

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(FILTERS_MAX * WORDS * Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Each returns the new count. */
  addFault(plugin: number): number {
    return ++(this.#words[plugin * WORDS + FAULTS] as number);
  }

  addBlock(plugin: number): number {
    return ++(this.#words[plugin * WORDS + BLOCKS] as number);
  }

  faults(plugin: number): number {
    return Atomics.load(this.#words, plugin * WORDS + FAULTS);
  }

  blocks(plugin: number): number {
    return Atomics.load(this.#words, plugin * WORDS + BLOCKS);
  }
}
