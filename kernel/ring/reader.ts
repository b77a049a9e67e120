import { Cursor, SlotWord, WORDS_PER_SLOT, type RingMemory, type SlotStatus } from './slots.js';

/** The consumer's side: looks at published units one after the other and completes them in order. */
export class RingReader {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly #slots: Int32Array;
  readonly #cursors: Int32Array;
  readonly #slotMask: number;
  #taken: number;

  constructor(memory: RingMemory) {
    this.bytes = Buffer.from(memory.bytes);
    this.view = new DataView(memory.bytes);
    this.#slots = new Int32Array(memory.slots);
    this.#cursors = new Int32Array(memory.cursors);
    this.#slotMask = this.#slots.length / WORDS_PER_SLOT - 1;
    this.#taken = Atomics.load(this.#cursors, Cursor.completed);
  }

  /** Published units not yet completed. */
  available(): number {
    return (Atomics.load(this.#cursors, Cursor.published) - this.#taken) | 0;
  }

  /** A word of the `nth` unit that is not yet completed. */
  word(nth: number, word: number): number {
    return this.#slots[((this.#taken + nth) & this.#slotMask) * WORDS_PER_SLOT + word];
  }

  setStatus(nth: number, status: SlotStatus): void {
    this.#slots[((this.#taken + nth) & this.#slotMask) * WORDS_PER_SLOT + SlotWord.status] = status;
  }

  /** The next `count` units are final: everything written into them is visible to the producer from here on. */
  complete(count: number): void {
    this.#taken = (this.#taken + count) | 0;
    Atomics.store(this.#cursors, Cursor.completed, this.#taken);
  }
}
