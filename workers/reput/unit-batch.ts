import { viewOf } from '../../protocol/copy.js';
import { ExtUnits } from '../../store/consumequeue/ext-unit.js';
import { UNIT_BYTES, writeUnit } from '../../store/consumequeue/unit.js';

/** Row buffers are kept from chunk to chunk, up to so many rows. */
const ROWS_KEPT_MAX = 50_000;

/** Units of one queue that follow each other, collected while a chunk of the log is read, written in one go. */
class RowUnits {
  bytes = Buffer.allocUnsafe(16 * UNIT_BYTES);
  view = viewOf(this.bytes);
  count = 0;
  firstOffset = 0;

  constructor(readonly ext: ExtUnits | undefined) {}

  grow(): void {
    this.bytes = Buffer.concat([this.bytes], this.bytes.length * 2);
    this.view = viewOf(this.bytes);
  }
}

/** Groups ConsumeQueue units by queue, so that a chunk of the log costs one write per queue and not one per message. */
export class UnitBatch {
  /** By row; of them those that had units lately are there. */
  #rows: (RowUnits | undefined)[] = [];
  #kept = 0;
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
    const units = this.#rows[row] ?? this.#newRow(row);
    if (units.count === 0) {
      units.firstOffset = queueOffset;
      this.#touched.push(row);
    } else if (units.firstOffset + units.count !== queueOffset) return false;
    const at = units.count * UNIT_BYTES;
    if (at === units.bytes.length) units.grow();
    writeUnit(units.view, at, physicalOffset, size, tagsHigh, tagsLow);
    units.ext?.add(tagsHigh, tagsLow, storeTimestamp, bitmap);
    units.count++;
    return true;
  }

  /** Hands over each row's units and forgets them. When `write` throws, `clear` and read the chunk again. */
  drain(
    write: (row: number, firstOffset: number, bytes: Buffer, byteLength: number, ext: ExtUnits | undefined) => void,
  ): void {
    for (const row of this.#touched) {
      const units = this.#rows[row]!;
      write(row, units.firstOffset, units.bytes, units.count * UNIT_BYTES, units.ext);
    }
    this.clear();
    if (this.#kept <= ROWS_KEPT_MAX) return;
    this.#rows = [];
    this.#kept = 0;
  }

  clear(): void {
    for (const row of this.#touched) {
      const units = this.#rows[row]!;
      units.count = 0;
      if (units.ext !== undefined) units.ext.length = 0;
    }
    this.#touched.length = 0;
  }

  #newRow(row: number): RowUnits {
    const units = new RowUnits(this.extBitmapBytes === undefined ? undefined : new ExtUnits(this.extBitmapBytes));
    // A hole would make a dictionary of the list.
    while (this.#rows.length <= row) this.#rows.push(undefined);
    this.#rows[row] = units;
    this.#kept++;
    return units;
  }
}
