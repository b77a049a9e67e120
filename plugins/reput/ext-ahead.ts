import { readExtUnit, type ExtUnit } from '../../store/consumequeue/ext-unit.js';
import { KeptRows } from './kept-rows.js';

/** More than the largest ext unit, 32 KiB. */
const AHEAD_BYTES = 64 * 1024;
/** Bytes of a row that are kept. */
const KEPT_BYTES = 16 * 1024;

interface Kept {
  readonly first: number;
  readonly bytes: Buffer;
}

/** The ext units of a queue lie one behind the other and are mostly read in order: so they are read ahead. */
export class ExtAhead {
  readonly #rows = new KeptRows<Kept>();
  readonly #scratch = Buffer.allocUnsafe(AHEAD_BYTES);

  /**
   * The ext unit at `extOffset`, valid until the next call; undefined when none is there. `fetch` reads from there on. `lastOffset`
   * tells where the last dispatched one begins: what lies before it is whole, what lies behind may be half written.
   */
  read(
    row: number,
    extOffset: number,
    lastOffset: () => number,
    fetch: (target: Buffer) => number,
  ): ExtUnit | undefined {
    const kept = this.#rows.get(row);
    const at = kept === undefined ? -1 : extOffset - kept.first;
    const known = kept !== undefined && at >= 0 && at < kept.bytes.length ? readExtUnit(kept.bytes, at) : undefined;
    if (known !== undefined) return known;
    const wholeBytes = Math.min(KEPT_BYTES, lastOffset() - extOffset);
    const length = fetch(this.#scratch);
    const unit = readExtUnit(this.#scratch.subarray(0, length), 0);
    if (unit !== undefined && wholeBytes > unit.bytes)
      this.#rows.keep(row, {
        first: extOffset,
        bytes: Buffer.from(this.#scratch.subarray(0, Math.min(length, wholeBytes))),
      });
    return unit;
  }
}
