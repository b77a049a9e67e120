import { viewOf } from '../../protocol/copy.js';
import { ExtPlace } from '../../store/consumequeue/ext-unit.js';
import { KeptRows } from './kept-rows.js';

/** More than the largest ext unit, 32 KiB. */
const AHEAD_BYTES = 64 * 1024;
const ROWS_MAX = 256;

/** A row's memory is used again and again: new memory for each read makes V8 collect it. */
class Kept {
  readonly memory = Buffer.allocUnsafeSlow(AHEAD_BYTES);
  readonly view = viewOf(this.memory);
  first = 0;
  /** Of whole ones, which do not change any more. */
  bytes = 0;
}

/** The ext units of a queue lie one behind the other and are mostly read in order: so they are read ahead. */
export class ExtAhead {
  readonly #rows = new KeptRows<Kept>(ROWS_MAX);
  readonly #place = new ExtPlace();
  /** Most looks are at the row of the one before. */
  #lastRow = -1;
  #last: Kept | undefined;

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
    const kept = row === this.#lastRow ? this.#last! : this.#ofRow(row);
    const place = this.#place;
    const at = extOffset - kept.first;
    if (at >= 0 && place.point(kept.view, at, kept.bytes)) return place;
    kept.bytes = 0;
    const wholeBytes = lastOffset() - extOffset;
    const bytes = fetch(kept.memory, extOffset);
    if (!place.point(kept.view, 0, bytes)) return undefined;
    kept.first = extOffset;
    if (wholeBytes > place.size) kept.bytes = Math.min(bytes, wholeBytes);
    return place;
  }

  #ofRow(row: number): Kept {
    let kept = this.#rows.get(row);
    if (kept === undefined) this.#rows.keep(row, (kept = new Kept()));
    this.#lastRow = row;
    this.#last = kept;
    return kept;
  }
}
