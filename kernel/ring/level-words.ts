export interface LevelMemory {
  /** BigInt64 by level, level 1 first: offset in the level's queue of the first message that is not delivered. */
  readonly progress: SharedArrayBuffer;
  /** Float64, LEVEL_WINDOW by level: which messages behind it are delivered. */
  readonly delivered: SharedArrayBuffer;
}

/** How far behind its first undelivered message a level may deliver others. */
export const LEVEL_WINDOW = 1024;

/**
 * How far the delay levels are. Written by the kernel's thread before the schedule service starts, then by that alone; kept over its
 * restarts, so that the death of its thread repeats nothing.
 */
export class LevelWords {
  static allocate(levels: number): LevelMemory {
    return {
      progress: new SharedArrayBuffer(levels * BigInt64Array.BYTES_PER_ELEMENT),
      delivered: new SharedArrayBuffer(levels * LEVEL_WINDOW * Float64Array.BYTES_PER_ELEMENT),
    };
  }

  readonly #progress: BigInt64Array;
  readonly #delivered: Float64Array;

  constructor(memory: LevelMemory) {
    this.#progress = new BigInt64Array(memory.progress);
    this.#delivered = new Float64Array(memory.delivered);
  }

  get levels(): number {
    return this.#progress.length;
  }

  /** `index`: level − 1, as the level's queue id. */
  progress(index: number): number {
    return Number(Atomics.load(this.#progress, index));
  }

  setProgress(index: number, offset: number): void {
    Atomics.store(this.#progress, index, BigInt(offset));
  }

  /** An entry says which offset it is of, so that none has to be cleared. */
  isDelivered(index: number, offset: number): boolean {
    return this.#delivered[index * LEVEL_WINDOW + (offset % LEVEL_WINDOW)] === offset + 1;
  }

  setDelivered(index: number, offset: number): void {
    this.#delivered[index * LEVEL_WINDOW + (offset % LEVEL_WINDOW)] = offset + 1;
  }
}
