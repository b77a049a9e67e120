import { Fifo } from '../../kernel/base/fifo.js';

/** Lets few reads that may wait for a disk run at a time; the others wait their turn here, not before those of others in Node's own line. */
export class ColdReads {
  #running = 0;
  readonly #waiting = new Fifo<() => void>(16);

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
      if (this.#waiting.size === 0) this.#running--;
      else this.#waiting.shift()();
    }
  }
}
