import { QueueTable, QueueWord } from '../../kernel/ring/queue-table.js';

/**
 * Next queue offset of each row, counted here as plain numbers and published to the shared table once per batch. Until then a
 * batch that could not be written is taken back whole: a refused record burns no offset.
 */
export class NextOffsets {
  #next = new Float64Array(0);
  /** Value before the open batch, by row; NaN when untouched. */
  #before = new Float64Array(0);
  readonly #touched: number[] = [];

  constructor(private readonly table: QueueTable) {}

  /** The row's next offset, counted up by `records`. */
  take(row: number, records: number): number {
    if (row >= this.#next.length) this.#grow(row);
    let next = this.#next[row];
    if (Number.isNaN(next)) this.#next[row] = next = this.table.get(row, QueueWord.next);
    if (Number.isNaN(this.#before[row])) {
      this.#before[row] = next;
      this.#touched.push(row);
    }
    this.#next[row] = next + records;
    return next;
  }

  /** The batch is written: others may see its offsets. */
  publish(): void {
    for (const row of this.#touched) {
      this.#before[row] = NaN;
      this.table.set(row, QueueWord.next, this.#next[row]);
    }
    this.#touched.length = 0;
  }

  /** The batch was not written. */
  takeBack(): void {
    for (const row of this.#touched) {
      this.#next[row] = this.#before[row];
      this.#before[row] = NaN;
    }
    this.#touched.length = 0;
  }

  #grow(row: number): void {
    const size = Math.max(1024, (row + 1) * 2);
    const next = new Float64Array(size).fill(NaN);
    const before = new Float64Array(size).fill(NaN);
    next.set(this.#next);
    before.set(this.#before);
    this.#next = next;
    this.#before = before;
  }
}
