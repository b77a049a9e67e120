import { UNIT_BYTES } from '../../store/consumequeue/unit.js';
import { KeptRows } from './kept-rows.js';

/** Units read at a time. */
const AHEAD = 1024;

/** Reads up to `count` units to the beginning of `target`; returns how many bytes. */
type Fetch = (target: Buffer, count: number) => number;

/** A row's memory is used again and again: new memory for each read makes V8 collect it. */
class Kept {
  readonly units = Buffer.allocUnsafeSlow(AHEAD * UNIT_BYTES);
  first = 0;
  bytes = 0;
}

/** A queue is mostly read on from where the last read ended: so it is read ahead. Dispatched units never change. */
export class UnitsAhead {
  readonly #rows = new KeptRows<Kept>();
  #single = Buffer.alloc(AHEAD * UNIT_BYTES);

  /**
   * `count` units from `offset` on, of which `available` are dispatched, valid until the next call; `fetch` reads from there on, at least
   * `count`.
   */
  read(row: number, offset: number, count: number, available: number, fetch: Fetch): Buffer {
    const kept = this.#rows.get(row);
    const at = kept === undefined ? -1 : (offset - kept.first) * UNIT_BYTES;
    const end = at + count * UNIT_BYTES;
    if (kept !== undefined && at >= 0 && end <= kept.bytes) return kept.units.subarray(at, end);
    const ahead = Math.min(available, AHEAD);
    return count < ahead ? this.#readAhead(row, kept, offset, count, ahead, fetch) : this.#readAlone(count, fetch);
  }

  #readAhead(
    row: number,
    before: Kept | undefined,
    offset: number,
    count: number,
    ahead: number,
    fetch: Fetch,
  ): Buffer {
    const kept = before ?? new Kept();
    kept.bytes = 0;
    const bytes = fetch(kept.units, ahead);
    kept.first = offset;
    kept.bytes = bytes;
    if (before === undefined) this.#rows.keep(row, kept);
    return kept.units.subarray(0, Math.min(bytes, count * UNIT_BYTES));
  }

  #readAlone(count: number, fetch: Fetch): Buffer {
    if (this.#single.length < count * UNIT_BYTES) this.#single = Buffer.alloc(count * UNIT_BYTES);
    return this.#single.subarray(0, fetch(this.#single, count));
  }
}
