import type { OffsetSet } from './offset-set.js';

/** Goes once through the offsets that a set holds at the beginning, ascending; those that leave it meanwhile are passed over. */
export class OffsetWalk {
  readonly #blocks: number[];
  #offsets: readonly number[] = [];
  #at = 0;

  constructor(private readonly set: OffsetSet) {
    this.#blocks = set.indexes().reverse();
  }

  /** Undefined at the end. */
  get current(): number | undefined {
    for (;;) {
      for (; this.#at < this.#offsets.length; this.#at++)
        if (this.set.has(this.#offsets[this.#at])) return this.#offsets[this.#at];
      const index = this.#blocks.pop();
      if (index === undefined) return undefined;
      this.#offsets = this.set.offsetsIn(index);
      this.#at = 0;
    }
  }

  next(): void {
    this.#at++;
  }
}
