import { assert } from '../base/assert.js';
import { Cursor, SlotWord, WORDS_PER_SLOT, type RingMemory, type SlotStatus } from './slots.js';

/** The producer's side. Reserve, encode, commit any number of units; publish once; later collect the completed ones in order. */
export class RingWriter {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly #slots: Int32Array;
  readonly #cursors: Int32Array;
  readonly #slotMask: number;
  readonly #capacity: number;
  /** Stream positions: grow for ever, their remainder by the capacity is the place in the ring. */
  #head = 0;
  #freed = 0;
  #reservedAt = 0;
  /** End position of each slot's unit, to free it. */
  readonly #ends: Float64Array;
  #committed: number;
  #released: number;

  constructor(memory: RingMemory) {
    this.bytes = Buffer.from(memory.bytes);
    this.view = new DataView(memory.bytes);
    this.#slots = new Int32Array(memory.slots);
    this.#cursors = new Int32Array(memory.cursors);
    const slotCount = this.#slots.length / WORDS_PER_SLOT;
    this.#slotMask = slotCount - 1;
    this.#capacity = this.bytes.length;
    this.#ends = new Float64Array(slotCount);
    // 0 in a fresh ring; sequence numbers go on from whatever stands there.
    this.#committed = this.#released = Atomics.load(this.#cursors, Cursor.published);
  }

  /** Units committed and not yet released. */
  get inFlight(): number {
    return (this.#committed - this.#released) | 0;
  }

  get bytesInFlight(): number {
    return this.#head - this.#freed;
  }

  /**
   * Place for `size` contiguous bytes, or -1 when the ring has no room now. A unit that would cross the ring's end starts at its
   * beginning; the rest is skipped and freed with it.
   */
  reserve(size: number): number {
    if (this.inFlight > this.#slotMask) return -1;
    const at = this.#head % this.#capacity;
    const skipped = at + size > this.#capacity ? this.#capacity - at : 0;
    if (this.#head + skipped + size - this.#freed > this.#capacity) return -1;
    this.#reservedAt = this.#head + skipped;
    return skipped === 0 ? at : 0;
  }

  /** Hands the reserved bytes over with the next `publish`; returns the unit's sequence number. */
  commit(size: number, row: number, records: number): number {
    const sequence = this.#committed;
    const slot = sequence & this.#slotMask;
    const word = slot * WORDS_PER_SLOT;
    this.#slots[word + SlotWord.start] = this.#reservedAt % this.#capacity;
    this.#slots[word + SlotWord.bytes] = size;
    this.#slots[word + SlotWord.row] = row;
    this.#slots[word + SlotWord.records] = records;
    this.#slots[word + SlotWord.status] = 0;
    this.#head = this.#reservedAt + size;
    this.#ends[slot] = this.#head;
    this.#committed = (sequence + 1) | 0;
    return sequence;
  }

  /** True when there was something to hand over: the consumer must be woken then. */
  publish(): boolean {
    if (Atomics.load(this.#cursors, Cursor.published) === this.#committed) return false;
    Atomics.store(this.#cursors, Cursor.published, this.#committed);
    return true;
  }

  /** Units completed and not yet released. */
  completed(): number {
    return (Atomics.load(this.#cursors, Cursor.completed) - this.#released) | 0;
  }

  /** Status of the oldest unit in flight; it must be completed. */
  statusOfOldest(): SlotStatus {
    const status = this.#slots[(this.#released & this.#slotMask) * WORDS_PER_SLOT + SlotWord.status];
    assert(status !== 0, 'a completed unit has no status');
    return status as SlotStatus;
  }

  startOfOldest(): number {
    return this.#slots[(this.#released & this.#slotMask) * WORDS_PER_SLOT + SlotWord.start];
  }

  bytesOfOldest(): number {
    return this.#slots[(this.#released & this.#slotMask) * WORDS_PER_SLOT + SlotWord.bytes];
  }

  /** Frees the oldest unit's slot and bytes. */
  release(): void {
    this.#freed = this.#ends[this.#released & this.#slotMask];
    this.#released = (this.#released + 1) | 0;
  }
}
