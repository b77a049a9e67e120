const ROWS_MAX = 1024;

/** What was read ahead of each queue, by its row; of more than 1,024 the one kept for longest goes. */
export class KeptRows<T> {
  readonly #rows = new Map<number, T>();

  get(row: number): T | undefined {
    return this.#rows.get(row);
  }

  keep(row: number, kept: T): void {
    if (this.#rows.size >= ROWS_MAX && !this.#rows.has(row))
      for (const oldest of this.#rows.keys()) {
        this.#rows.delete(oldest);
        break;
      }
    this.#rows.set(row, kept);
  }
}
