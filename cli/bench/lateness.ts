import type { Histogram } from './histogram.js';

/** When each delayed message of a run was due and when it was stored for its consumers, both on the broker's clock. */
export class Lateness {
  readonly #dueMs = new Column();
  readonly #storedMs = new Column();
  /** Different messages that came. */
  delivered = 0;
  /** Messages that came again. */
  repeated = 0;

  due(message: number, ms: number): void {
    this.#dueMs.set(message, ms);
  }

  stored(message: number, ms: number): void {
    if (this.#storedMs.get(message) !== 0) {
      this.repeated++;
      return;
    }
    this.delivered++;
    this.#storedMs.set(message, ms);
  }

  /**
   * Records how late those were that fell due from `fromMs` to `toMs`; returns how many were early. Store times are whole milliseconds: less
   * than one counts as one.
   */
  record(latency: Histogram, fromMs: number, toMs: number): number {
    let early = 0;
    for (let message = 0; message < this.#dueMs.length; message++) {
      const dueMs = this.#dueMs.get(message);
      const storedMs = this.#storedMs.get(message);
      if (dueMs < fromMs || dueMs >= toMs || storedMs === 0) continue;
      if (storedMs < dueMs) early++;
      latency.record(Math.max(1, storedMs - dueMs) * 1000);
    }
    return early;
  }
}

const FIRST_ROOM = 65_536;

/** Numbers by index; 0 where none was set. */
class Column {
  #values = new Float64Array(FIRST_ROOM);
  length = 0;

  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const grown = new Float64Array(Math.max(index + 1, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[index] = value;
    this.length = Math.max(this.length, index + 1);
  }
}
