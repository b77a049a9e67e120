import { ExtPlace } from '../../store/consumequeue/ext-unit.js';
import { KeptRows } from './kept-rows.js';

/** More than the largest ext unit, 32 KiB. */
const AHEAD_BYTES = 64 * 1024;
/** Bytes of a row that are kept. */
const KEPT_BYTES = 32 * 1024;

interface Kept {
  readonly first: number;
  readonly bytes: Buffer;
}

/** The ext units of a queue lie one behind the other and are mostly read in order: so they are read ahead. */
export class ExtAhead {
  readonly #rows = new KeptRows<Kept>();
  readonly #scratch = Buffer.allocUnsafe(AHEAD_BYTES);
  readonly #place = new ExtPlace();

  /**
   * The ext unit at `extOffset`, valid until the next call; undefined when none is there. `fetch` reads from there on. `lastOffset`
   * tells where the last dispatched one begins: what lies before it is whole, what lies behind may be half written.
   */
  read(
    row: number,
    extOffset: number,
    lastOffset: () => number,
    fetch: (target: Buffer, extOffset: number) => number,
  ): ExtPlace | undefined {
    const kept = this.#rows.get(row);
    const at = kept === undefined ? -1 : extOffset - kept.first;
    const place = this.#place;
    if (kept !== undefined && at >= 0 && at < kept.bytes.length && place.point(kept.bytes, at)) return place;
    const wholeBytes = Math.min(KEPT_BYTES, lastOffset() - extOffset);
    const length = fetch(this.#scratch, extOffset);
    if (!place.point(this.#scratch.subarray(0, length), 0)) return undefined;
    if (wholeBytes > place.size)
      this.#rows.keep(row, {
        first: extOffset,
        bytes: Buffer.from(this.#scratch.subarray(0, Math.min(length, wholeBytes))),
      });
    return place;
  }
}
