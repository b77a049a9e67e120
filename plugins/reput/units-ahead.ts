import { UNIT_BYTES } from '../../store/consumequeue/unit.js';
import { KeptRows } from './kept-rows.js';

/** Units read at a time. */
const AHEAD = 512;

interface Kept {
  first: number;
  units: Buffer;
}

/** A queue is mostly read on from where the last read ended: so it is read ahead. Dispatched units never change. */
export class UnitsAhead {
  readonly #rows = new KeptRows<Kept>();

  /** `count` units from `offset` on, of which `available` are dispatched; `fetch` reads from there on, at least `count`. */
  read(row: number, offset: number, count: number, available: number, fetch: (count: number) => Buffer): Buffer {
    const kept = this.#rows.get(row);
    const at = kept === undefined ? -1 : (offset - kept.first) * UNIT_BYTES;
    const end = at + count * UNIT_BYTES;
    if (kept !== undefined && at >= 0 && end <= kept.units.length) return kept.units.subarray(at, end);
    const units = fetch(Math.max(count, Math.min(available, AHEAD)));
    if (units.length > count * UNIT_BYTES) this.#rows.keep(row, { first: offset, units });
    return units.subarray(0, count * UNIT_BYTES);
  }
}
