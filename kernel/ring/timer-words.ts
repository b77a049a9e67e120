export interface TimerMemory {
  /** BigInt64, see Word. */
  readonly words: SharedArrayBuffer;
  /** Float64: the queue offsets that were done last. */
  readonly journal: SharedArrayBuffer;
}

const Word = {
  /** So many were done since the start. */
  done: 0,
  /** So many of the queue's offsets are not pending: below it, or done. */
  settled: 1,
} as const;

/** So many deliveries may lie between two snapshots of what is pending. */
const JOURNAL = 262_144;

/**
 * Which timers are done, where a thread's death does not reach it: a snapshot that the kernel's thread keeps, and what was done since.
 * Written by the schedule service.
 */
export class TimerWords {
  static allocate(): TimerMemory {
    return {
      words: new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT),
      journal: new SharedArrayBuffer(JOURNAL * Float64Array.BYTES_PER_ELEMENT),
    };
  }

  readonly #words: BigInt64Array;
  readonly #journal: Float64Array;

  constructor(memory: TimerMemory) {
    this.#words = new BigInt64Array(memory.words);
    this.#journal = new Float64Array(memory.journal);
  }

  get done(): number {
    return Number(Atomics.load(this.#words, Word.done));
  }

  /** Counts `queueOffset` as done. */
  note(queueOffset: number): void {
    const { done } = this;
    this.#journal[done % JOURNAL] = queueOffset;
    Atomics.store(this.#words, Word.done, BigInt(done + 1));
  }

  /** Queue offsets that were done since `done` was `from`; undefined when they are too many to be known. */
  since(from: number): number[] | undefined {
    const { done } = this;
    if (done - from > JOURNAL) return undefined;
    return Array.from({ length: done - from }, (_, index) => this.#journal[(from + index) % JOURNAL]);
  }

  get settled(): number {
    return Number(Atomics.load(this.#words, Word.settled));
  }

  set settled(count: number) {
    Atomics.store(this.#words, Word.settled, BigInt(count));
  }
}
