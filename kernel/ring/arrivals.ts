/**
 * The arrival ring: reput tells the network thread which queues grew, so that held pulls are woken without a scan. One producer,
 * one consumer. Entries are rows of the queue table; when the consumer is too slow it is told to look at all of them instead.
 */
const Word = { published: 0, taken: 1, overflow: 2, wanted: 3 } as const;
const HEADER_WORDS = 4;

export class ArrivalRing {
  static allocate(entries: number): SharedArrayBuffer {
    if ((entries & (entries - 1)) !== 0) throw new RangeError('an arrival ring needs a power of two');
    return new SharedArrayBuffer((HEADER_WORDS + entries) * Int32Array.BYTES_PER_ELEMENT);
  }

  readonly #words: Int32Array;
  readonly #mask: number;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#mask = this.#words.length - HEADER_WORDS - 1;
  }

  /** Network thread only: whether a pull waits for an arrival now. */
  setWanted(wanted: boolean): void {
    Atomics.store(this.#words, Word.wanted, wanted ? 1 : 0);
  }

  /** reput: false when nobody waits, and dispatching may take its time. */
  get wanted(): boolean {
    return Atomics.load(this.#words, Word.wanted) === 1;
  }

  /** reput only. */
  push(row: number): void {
    const published = this.#words[Word.published];
    if (((published - Atomics.load(this.#words, Word.taken)) | 0) > this.#mask) {
      Atomics.store(this.#words, Word.overflow, 1);
      return;
    }
    this.#words[HEADER_WORDS + (published & this.#mask)] = row;
    Atomics.store(this.#words, Word.published, (published + 1) | 0);
  }

  isEmpty(): boolean {
    return (
      Atomics.load(this.#words, Word.published) === this.#words[Word.taken] &&
      Atomics.load(this.#words, Word.overflow) === 0
    );
  }

  /** Network thread only: `onRow` for each queue that grew; `onAll` when entries were dropped. */
  drain(onRow: (row: number) => void, onAll: () => void): void {
    const published = Atomics.load(this.#words, Word.published);
    let taken = this.#words[Word.taken];
    while (taken !== published) {
      onRow(this.#words[HEADER_WORDS + (taken & this.#mask)]);
      taken = (taken + 1) | 0;
    }
    Atomics.store(this.#words, Word.taken, taken);
    if (Atomics.compareExchange(this.#words, Word.overflow, 1, 0) === 1) onAll();
  }
}
