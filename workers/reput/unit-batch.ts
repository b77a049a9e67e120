import { ExtUnits } from '../../store/consumequeue/ext-unit.js';
import { UNIT_BYTES, writeUnit } from '../../store/consumequeue/unit.js';

/** Row buffers are kept from chunk to chunk, up to so many rows. */
const ROWS_KEPT_MAX = 50_000;

/** Units of one queue that follow each other, collected while a chunk of the log is read, written in one go. */
class RowUnits {
  bytes = Buffer.allocUnsafe(16 * UNIT_BYTES);
  count = 0;
  firstOffset = 0;

  constructor(readonly ext: ExtUnits | undefined) {}
}

/** Groups ConsumeQueue units by queue, so that a chunk of the log costs one write per queue and not one per message. */
export class UnitBatch {
  readonly #rows = new Map<number, RowUnits>();
  readonly #touched: number[] = [];

  /** `extBitmapBytes`: ext units are collected beside the units, with bitmaps of about that length; not when it is missing. */
  constructor(private readonly extBitmapBytes?: number) {}

  /** Rows with units, in order of their first one. */
  get touched(): readonly number[] {
    return this.#touched;
  }

  /** False when the unit does not follow the row's last one: `drain` first, then add it again. */
  add(
    row: number,
    queueOffset: number,
    physicalOffset: number,
    size: number,
    tagsHigh: number,
    tagsLow: number,
    storeTimestamp: number,
    bitmap?: Uint8Array,
  ): boolean {
    let units = this.#rows.get(row);
    if (units === undefined) this.#rows.set(row, (units = this.#newRow()));
    if (units.count === 0) {
      units.firstOffset = queueOffset;
      this.#touched.push(row);
    } else if (units.firstOffset + units.count !== queueOffset) return false;
    const at = units.count * UNIT_BYTES;
    if (at === units.bytes.length) units.bytes = Buffer.concat([units.bytes], units.bytes.length * 2);
    writeUnit(units.bytes, at, physicalOffset, size, tagsHigh, tagsLow);
    units.ext?.add(tagsHigh, tagsLow, storeTimestamp, bitmap);
    units.count++;
    return true;
  }

  /** Hands over each row's units and forgets them. When `write` throws, `clear` and read the chunk again. */
  drain(
    write: (row: number, firstOffset: number, bytes: Buffer, byteLength: number, ext: ExtUnits | undefined) => void,
  ): void {
    for (const row of this.#touched) {
      const units = this.#rows.get(row)!;
      write(row, units.firstOffset, units.bytes, units.count * UNIT_BYTES, units.ext);
    }
    this.clear();
    if (this.#rows.size > ROWS_KEPT_MAX) this.#rows.clear();
  }

  clear(): void {
    for (const row of this.#touched) {
      const units = this.#rows.get(row)!;
      units.count = 0;
      if (units.ext !== undefined) units.ext.length = 0;
    }
    this.#touched.length = 0;
  }

  #newRow(): RowUnits {
    return new RowUnits(this.extBitmapBytes === undefined ? undefined : new ExtUnits(this.extBitmapBytes));
  }
}
