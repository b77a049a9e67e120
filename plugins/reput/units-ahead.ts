import { UNIT_BYTES } from '../../store/consumequeue/unit.js';

/** Units read at a time, and rows whose last ones are kept. */
const AHEAD = 512;
const ROWS_MAX = 1024;

interface Kept {
  first: number;
  units: Buffer;
}

/** A queue is mostly read on from where the last read ended: so it is read ahead. Dispatched units never change. */
export class UnitsAhead {
  readonly #rows = new Map<number, Kept>();

  /** `count` units from `offset` on, of which `available` are dispatched; `fetch` reads from there on, at least `count`. */
  read(row: number, offset: number, count: number, available: number, fetch: (count: number) => Buffer): Buffer {
    const kept = this.#rows.get(row);
    const at = kept === undefined ? -1 : (offset - kept.first) * UNIT_BYTES;
    const end = at + count * UNIT_BYTES;
    if (kept !== undefined && at >= 0 && end <= kept.units.length) return kept.units.subarray(at, end);
    const units = fetch(Math.max(count, Math.min(available, AHEAD)));
    if (units.length > count * UNIT_BYTES) this.#keep(row, { first: offset, units });
    return units.subarray(0, count * UNIT_BYTES);
  }

  #keep(row: number, kept: Kept): void {
    if (this.#rows.size >= ROWS_MAX && !this.#rows.has(row))
      for (const oldest of this.#rows.keys()) {
        this.#rows.delete(oldest);
        break;
      }
    this.#rows.set(row, kept);
  }
}
