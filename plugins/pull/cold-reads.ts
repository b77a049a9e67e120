/** Lets few reads that may wait for a disk run at a time; the others wait their turn here, not before those of others in Node's own line. */
export class ColdReads {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly max: number) {}

  /** True when a read would begin at once. */
  get isFree(): boolean {
    return this.#running < this.max;
  }

  /** Memory for what is read is best taken in `read`: by then its turn has come. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.isFree) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
