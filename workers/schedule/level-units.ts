import { extOffsetIn, ExtPlace } from '../../store/consumequeue/ext-unit.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { isRecordUnit, UNIT_BYTES, unitPhysicalOffset, unitSize } from '../../store/consumequeue/unit.js';
import { viewOf } from '../../protocol/copy.js';

/** Units read at a time. */
const AHEAD = 256;
/** Enough to hold an ext unit's tags code; its bitmap may be cut off. */
const EXT_BYTES = 32 * 1024;

/** The units of a queue of delayed messages, one after the other, read ahead. */
export class LevelUnits {
  physicalOffset = 0;
  size = 0;
  #units = Buffer.alloc(0);
  /** Queue offset of the first unit that was read, and how many bytes were. */
  #first = 0;
  #bytes = 0;
  #at = 0;
  #ext = Buffer.alloc(0);
  readonly #place = new ExtPlace();

  constructor(
    private readonly queues: QueueFiles,
    private readonly topic: string,
    private readonly queueId: number,
  ) {}

  /** Goes to the unit at `offset` of a queue that ends at `end`. False when none is there: its file is missing or damaged. */
  point(offset: number, end: number): boolean {
    let at = (offset - this.#first) * UNIT_BYTES;
    if (at < 0 || at >= this.#bytes) {
      this.#read(offset, end);
      at = 0;
    }
    this.#at = at;
    if (at >= this.#bytes || !isRecordUnit(this.#units, at)) {
      // It may be there at the next look.
      this.#bytes = 0;
      return false;
    }
    this.physicalOffset = unitPhysicalOffset(this.#units, at);
    this.size = unitSize(this.#units, at);
    return true;
  }

  /** When the unit's message falls due, ms; undefined when that stood in an ext unit which is missing. */
  get dueMs(): number | undefined {
    const high = this.#units.readInt32BE(this.#at + 12);
    const low = this.#units.readInt32BE(this.#at + 16);
    const extOffset = extOffsetIn(high, low);
    if (extOffset < 0) return high * 0x100000000 + (low >>> 0);
    if (this.queues.ext === undefined) return undefined;
    if (this.#ext.length === 0) this.#ext = Buffer.alloc(EXT_BYTES);
    const bytes = this.queues.ext.read(this.topic, this.queueId, extOffset, this.#ext, EXT_BYTES);
    if (!this.#place.point(viewOf(this.#ext), 0, bytes)) return undefined;
    return this.#place.tagsHigh * 0x100000000 + (this.#place.tagsLow >>> 0);
  }

  #read(offset: number, end: number): void {
    if (this.#units.length === 0) this.#units = Buffer.alloc(AHEAD * UNIT_BYTES);
    this.#first = offset;
    this.#bytes = this.queues.readInto(this.#units, this.topic, this.queueId, offset, Math.min(end - offset, AHEAD));
  }
}
