import { assert } from '../base/assert.js';

/**
 * The cursors of the log, one shared 64-bit word each (two 32-bit halves would tear). One writer thread each; they only grow;
 * whoever reads one sees everything that was written before it moved.
 */
export const Watermark = {
  /** commitlog: end of what `pwrite` returned for. */
  appended: 0,
  /** flush: end of what is synced. */
  flushed: 1,
  /** ha: end of what the slave acknowledged. */
  replicated: 2,
  /** reput: end of what has ConsumeQueue entries. */
  dispatched: 3,
  /** reput: end of what the index holds. */
  indexed: 4,
  /** retention: first byte still there. */
  logMin: 5,
  /** commitlog: store time of the last appended record, ms. */
  appendedTimeMs: 6,
  /** flush: store time up to which everything is synced, ms. */
  flushedTimeMs: 7,
  /** the kernel's thread: first byte of the segment that waits, complete, to be the next one. */
  ready: 8,
} as const;
export type Watermark = (typeof Watermark)[keyof typeof Watermark];

/** States that stop a service for good, beside the cursors; 0 is well. One writer each. */
export const Fault = {
  /** commitlog: a failed write could not be undone. */
  append: 9,
  /** flush: a sync failed; nothing after `flushed` may be believed. */
  flush: 10,
} as const;
export type Fault = (typeof Fault)[keyof typeof Fault];

/** The kernel's thread: nothing may be stored for now. */
const HELD_BACK = 11;
const WORDS = 12;

export class Watermarks {
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT);
  }

  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
  }

  get(slot: Watermark | Fault): number {
    return Number(Atomics.load(this.#words, slot));
  }

  /** The slot's one writer only. A cursor never goes back. */
  advance(slot: Watermark, value: number): void {
    const next = BigInt(value);
    assert(next >= Atomics.load(this.#words, slot), `watermark ${slot} would go back to ${value}`);
    Atomics.store(this.#words, slot, next);
  }

  /** Before the threads start: where recovery left the log. */
  reset(slot: Watermark, value: number): void {
    Atomics.store(this.#words, slot, BigInt(value));
  }

  /** The fault's one writer only; never cleared while the process lives. */
  raise(fault: Fault): void {
    Atomics.store(this.#words, fault, 1n);
  }

  raised(fault: Fault): boolean {
    return Atomics.load(this.#words, fault) !== 0n;
  }

  /** Nothing may be stored for now: the disk fills up. */
  get isHeldBack(): boolean {
    return Atomics.load(this.#words, HELD_BACK) !== 0n;
  }

  /** The kernel's thread only. */
  holdBack(held: boolean): void {
    Atomics.store(this.#words, HELD_BACK, held ? 1n : 0n);
  }
}
