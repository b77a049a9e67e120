import type { ExtFiles } from './ext-files.js';
import { extUnitBytes, unitExtOffset } from './ext-unit.js';
import type { QueueFiles } from './queue-files.js';
import { isRecordUnit, UNIT_BYTES } from './unit.js';

const CHUNK_BYTES = 64 * 1024;
const UNITS = 512;
/** The largest size of an ext unit, 15 bits, and a byte. */
const UNIT_BYTES_MAX = 32 * 1024;

/** Goes through ConsumeQueue units in order and tells whether the ext units that they point to are there. */
export class ExtScan {
  #end = 0;
  #start = 0;
  #length = 0;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(
    private readonly ext: ExtFiles,
    private readonly topic: string,
    private readonly queueId: number,
    /** What lies before it is expired. */
    private readonly firstOffset: number,
  ) {}

  /** False when the unit at `at` points to an ext unit that is missing, or to one that lies before that of a unit before. */
  isWhole(units: Buffer, at: number): boolean {
    const extOffset = unitExtOffset(units, at);
    if (extOffset < this.firstOffset) return true;
    if (extOffset < this.#end) return false;
    let size = this.#sizeAt(extOffset);
    if (size === 0) {
      this.#start = extOffset;
      this.#length = this.ext.read(this.topic, this.queueId, extOffset, this.#chunk, CHUNK_BYTES);
      size = this.#sizeAt(extOffset);
    }
    this.#end = extOffset + size;
    return size > 0;
  }

  #sizeAt(extOffset: number): number {
    const at = extOffset - this.#start;
    return at < this.#length ? extUnitBytes(this.#chunk, at, this.#length) : 0;
  }
}

/**
 * Where the last ext unit ends that any unit before `queueOffset` points to: 0 when there is none. When that one cannot be read the
 * next begins a file behind all that are there, so that nothing in use is overwritten.
 */
export function extEndBefore(
  queues: QueueFiles,
  ext: ExtFiles,
  topic: string,
  queueId: number,
  queueOffset: number,
): number {
  const extOffset = lastExtOffset(queues, topic, queueId, queueOffset);
  if (extOffset < 0) return 0;
  const size = extSizeAt(ext, topic, queueId, extOffset);
  if (size > 0) return extOffset + size;
  return Math.max(extOffset - (extOffset % ext.fileBytes), ...ext.bases(topic, queueId)) + ext.fileBytes;
}

/** Size of the ext unit at an offset; 0 when none is there. */
export function extSizeAt(ext: ExtFiles, topic: string, queueId: number, extOffset: number): number {
  const head = Buffer.allocUnsafe(UNIT_BYTES_MAX);
  return extUnitBytes(head, 0, ext.read(topic, queueId, extOffset, head, head.length));
}

/** Ext offset of the last unit before `queueOffset` that has one, or -1: those written while ext units were off have none. */
function lastExtOffset(queues: QueueFiles, topic: string, queueId: number, queueOffset: number): number {
  const first = (queues.bases(topic, queueId)[0] ?? 0) / UNIT_BYTES;
  for (let end = queueOffset; end > first;) {
    const count = Math.min(UNITS, end - first);
    const units = queues.read(topic, queueId, end - count, count);
    for (let at = units.length - UNIT_BYTES; at >= 0; at -= UNIT_BYTES) {
      if (!isRecordUnit(units, at)) continue;
      const extOffset = unitExtOffset(units, at);
      if (extOffset >= 0) return extOffset;
    }
    end -= count;
  }
  return -1;
}
