import { Cursor, SlotWord, WORDS_PER_SLOT, type RingMemory, type SlotStatus } from './slots.js';

/** Per slot: whose unit it is, and which of theirs. */
const WORDS_PER_ENTRY = 2;

export interface LedgerMemory {
  readonly entries: SharedArrayBuffer;
  /** One Int32: the sequence number up to which outcomes were taken into account. */
  readonly settled: SharedArrayBuffer;
}

/**
 * What each unit in a service's ring is, where a thread's death does not reach it: the service's next life learns how the units of
 * this one ended, and stores none of them again. All words are the service's.
 */
export class Ledger {
  static allocate(ring: RingMemory): LedgerMemory {
    const slots = ring.slots.byteLength / (WORDS_PER_SLOT * Int32Array.BYTES_PER_ELEMENT);
    return {
      entries: new SharedArrayBuffer(slots * WORDS_PER_ENTRY * Float64Array.BYTES_PER_ELEMENT),
      settled: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    };
  }

  readonly #entries: Float64Array;
  readonly #settled: Int32Array;
  readonly #slots: Int32Array;
  readonly #published: number;
  readonly #mask: number;
  /** Of the next unit. */
  #next: number;

  constructor(memory: LedgerMemory, ring: RingMemory) {
    this.#entries = new Float64Array(memory.entries);
    this.#settled = new Int32Array(memory.settled);
    this.#slots = new Int32Array(ring.slots);
    this.#mask = this.#entries.length / WORDS_PER_ENTRY - 1;
    this.#published = this.#next = Atomics.load(new Int32Array(ring.cursors), Cursor.published);
  }

  /** Before the unit is committed. Returns its sequence number. */
  note(owner: number, token: number): number {
    const sequence = this.#next;
    const at = (sequence & this.#mask) * WORDS_PER_ENTRY;
    this.#entries[at] = owner;
    this.#entries[at + 1] = token;
    this.#next = (sequence + 1) | 0;
    return sequence;
  }

  ownerOf(sequence: number): number {
    return this.#entries[(sequence & this.#mask) * WORDS_PER_ENTRY];
  }

  tokenOf(sequence: number): number {
    return this.#entries[(sequence & this.#mask) * WORDS_PER_ENTRY + 1];
  }

  /** The outcome of this unit, and of all before it, will not be needed again. */
  settle(sequence: number): void {
    Atomics.store(this.#settled, 0, (sequence + 1) | 0);
  }

  /** What an earlier life handed over and did not settle. The log's writer must be done with all of it, and nothing be committed since. */
  inherit(listener: (owner: number, token: number, status: SlotStatus) => void): void {
    for (let at = Atomics.load(this.#settled, 0); at !== this.#published; at = (at + 1) | 0) {
      const status = this.#slots[(at & this.#mask) * WORDS_PER_SLOT + SlotWord.status] as SlotStatus;
      listener(this.ownerOf(at), this.tokenOf(at), status);
      this.settle(at);
    }
  }
}
