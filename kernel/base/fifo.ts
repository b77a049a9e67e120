import { assert } from './assert.js';

/** A first-in first-out queue over a circular array that doubles when it is full; no allocation per entry. */
export class Fifo<T> {
  #entries: (T | undefined)[];
  #mask: number;
  #head = 0;
  #size = 0;

  constructor(initial = 1024) {
    this.#entries = new Array<T | undefined>(initial).fill(undefined);
    this.#mask = initial - 1;
  }

  get size(): number {
    return this.#size;
  }

  push(entry: T): void {
    if (this.#size > this.#mask) this.#grow();
    this.#entries[(this.#head + this.#size++) & this.#mask] = entry;
  }

  peek(): T | undefined {
    return this.#entries[this.#head & this.#mask];
  }

  shift(): T {
    const at = this.#head & this.#mask;
    const entry = this.#entries[at];
    assert(this.#size > 0 && entry !== undefined, 'shift of an empty queue');
    this.#entries[at] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#size--;
    return entry;
  }

  #grow(): void {
    const size = this.#size;
    const entries = new Array<T | undefined>((this.#mask + 1) * 2).fill(undefined);
    for (let i = 0; i < size; i++) entries[i] = this.#entries[(this.#head + i) & this.#mask];
    this.#entries = entries;
    this.#mask = entries.length - 1;
    this.#head = 0;
  }
}
