/** What was read ahead of each queue, by its row; of more than so many the one kept for longest goes. */
export class KeptRows<T> {
  readonly #rows = new Map<number, T>();

  constructor(private readonly rowsMax = 1024) {}

  get(row: number): T | undefined {
    return this.#rows.get(row);
  }

  keep(row: number, kept: T): void {
    if (this.#rows.size >= this.rowsMax && !this.#rows.has(row))
      for (const oldest of this.#rows.keys()) {
        this.#rows.delete(oldest);
        break;
      }
    this.#rows.set(row, kept);
  }
}
