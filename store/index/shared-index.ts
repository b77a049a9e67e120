import { emptyHeader, type IndexHeader } from './layout.js';
import { Slots } from './slots.js';

/** What the threads share of the active file. */
export interface IndexMemory {
  readonly slots: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
}

/** The active file as it is published: all entries below `header.next` are in the file. */
export interface IndexState {
  /** Name of the active file; undefined when the last one is full, or there is none. */
  readonly name: string | undefined;
  readonly header: IndexHeader;
}

const SEQUENCE = 0;
const FAILED = 1;
const HALF_WORDS = 7;
const FIRST_HALF = 1;

/**
 * Header and name of the active file for readers on other threads. Two halves: the one writer fills the half that nobody reads and
 * then moves the sequence, so that a writer that dies leaves a whole state behind.
 */
export class SharedIndex {
  static allocate(slots: number): IndexMemory {
    return {
      slots: Slots.allocate(slots),
      state: new SharedArrayBuffer((FIRST_HALF + 2 * HALF_WORDS) * BigInt64Array.BYTES_PER_ELEMENT),
    };
  }

  readonly #control: Int32Array;
  readonly #words: BigInt64Array;

  constructor(state: SharedArrayBuffer) {
    this.#control = new Int32Array(state, 0, 2);
    this.#words = new BigInt64Array(state);
  }

  /** Changes with every state; 0 before the first. */
  get sequence(): number {
    return Atomics.load(this.#control, SEQUENCE);
  }

  /** A sync failed: nothing of this life's index may be believed by the next start. */
  get failed(): boolean {
    return Atomics.load(this.#control, FAILED) !== 0;
  }

  setFailed(): void {
    Atomics.store(this.#control, FAILED, 1);
  }

  /** The one writer only. */
  publish({ name, header }: IndexState): void {
    const next = (this.sequence + 1) | 0;
    const at = this.#half(next);
    const { beginTimestamp, endTimestamp, beginPhysical, endPhysical, slotsUsed } = header;
    const words = [name === undefined ? 0n : BigInt(name)];
    for (const value of [beginTimestamp, endTimestamp, beginPhysical, endPhysical, slotsUsed, header.next])
      words.push(BigInt(value));
    words.forEach((word, index) => Atomics.store(this.#words, at + index, word));
    Atomics.store(this.#control, SEQUENCE, next);
    Atomics.notify(this.#control, SEQUENCE);
  }

  /** Compare `sequence` before and after whatever is read beside it. */
  read(): IndexState {
    for (;;) {
      const sequence = this.sequence;
      const at = this.#half(sequence);
      const word = (index: number): number => Number(Atomics.load(this.#words, at + index));
      const name = Atomics.load(this.#words, at);
      const header = emptyHeader();
      [header.beginTimestamp, header.endTimestamp] = [word(1), word(2)];
      [header.beginPhysical, header.endPhysical] = [word(3), word(4)];
      [header.slotsUsed, header.next] = [word(5), word(6)];
      if (this.sequence === sequence) return { name: name === 0n ? undefined : nameOf(name), header };
    }
  }

  /** Blocks until the state is another one than `sequence`, at most `timeoutMs`. Never on the kernel's thread. */
  waitChange(sequence: number, timeoutMs: number): void {
    Atomics.wait(this.#control, SEQUENCE, sequence, timeoutMs);
  }

  #half(sequence: number): number {
    return FIRST_HALF + (sequence & 1) * HALF_WORDS;
  }
}

function nameOf(word: bigint): string {
  return word.toString().padStart(17, '0');
}
