import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import type { StoreFile } from '../files/contract.js';
import { segmentName } from '../files/paths.js';
import { ExtScan } from './ext-scan.js';
import type { QueueFiles } from './queue-files.js';
import { nextData } from './queue-data.js';
import { firstAtOrAbove } from './search.js';
import { isBlankUnit, isRecordUnit, UNIT_BYTES, unitPhysicalOffset, unitSize } from './unit.js';

export interface QueueBounds {
  /** Queue offset of the first unit that the files can hold. */
  readonly minOffset: number;
  /** Queue offset after the last valid unit. */
  readonly maxOffset: number;
  /** Physical offset after the record of the last valid unit; -1 when there is none. */
  readonly lastPhysical: number;
}

const CHUNK_BYTES = 64 * 1020;

/**
 * Where a queue's valid units end, judged from the third last file on (4.9: ConsumeQueue#recover): at the first that is unwritten, or
 * whose physical offset does not grow, or whose ext unit is missing while such are written. Reads only.
 *
 * Last files in which nothing was written do not count: a power cut leaves some, since files are made before their units are synced
 * (4.9 takes the first of the last three for the queue's end, for good).
 */
export function queueBounds(queues: QueueFiles, topic: string, queueId: number): QueueBounds {
  const bases = writtenBases(queues, topic, queueId);
  const { ext } = queues;
  const scan = new UnitScan(
    ext?.enabled === true ? new ExtScan(ext, topic, queueId, ext.bases(topic, queueId)[0] ?? 0) : undefined,
  );
  const dir = queues.queueDir(topic, queueId);
  let end = bases[0] ?? 0;
  for (const base of bases.slice(-3)) {
    end = base;
    const file = queues.files.open(join(dir, segmentName(base)), 'read');
    try {
      end = base + scan.file(file, queues.fileBytes);
    } finally {
      file.close();
    }
    if (end < base + queues.fileBytes) break;
  }
  return { minOffset: (bases[0] ?? 0) / UNIT_BYTES, maxOffset: end / UNIT_BYTES, lastPhysical: scan.lastPhysical };
}

/** Without the last files of zeros; the first file stays. */
function writtenBases(queues: QueueFiles, topic: string, queueId: number): number[] {
  const bases = queues.bases(topic, queueId);
  const dir = queues.queueDir(topic, queueId);
  while (bases.length > 1) {
    const file = queues.files.open(join(dir, segmentName(bases.at(-1) ?? 0)), 'read');
    try {
      if (nextData(file, 0, queues.fileBytes) !== undefined) break;
    } finally {
      file.close();
    }
    bases.pop();
  }
  return bases;
}

class UnitScan {
  lastPhysical = -1;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(private readonly ext: ExtScan | undefined) {}

  /** Bytes of valid units from the file's start on. */
  file(file: StoreFile, fileBytes: number): number {
    for (let position = 0; position < fileBytes;) {
      const read = file.read(this.#chunk, 0, Math.min(CHUNK_BYTES, fileBytes - position), position);
      const valid = this.#units(read);
      position += valid;
      if (valid < read || read === 0) return position;
    }
    return fileBytes;
  }

  #units(length: number): number {
    for (let at = 0; at + UNIT_BYTES <= length; at += UNIT_BYTES) {
      if (isRecordUnit(this.#chunk, at)) {
        const physicalOffset = unitPhysicalOffset(this.#chunk, at);
        if (physicalOffset < this.lastPhysical || this.ext?.isWhole(this.#chunk, at) === false) return at;
        this.lastPhysical = physicalOffset + unitSize(this.#chunk, at);
      } else if (!isBlankUnit(this.#chunk, at)) {
        return at;
      }
    }
    return length - (length % UNIT_BYTES);
  }
}

/** Bounds without the units whose records lie at or beyond `physicalEnd`, the log's valid end. Reads only. */
export function boundsWithin(queues: QueueFiles, topic: string, queueId: number, physicalEnd: number): QueueBounds {
  const bounds = queueBounds(queues, topic, queueId);
  if (bounds.lastPhysical <= physicalEnd) return bounds;
  const physicalAt = (queueOffset: number): number => physicalOffsetOf(queues, topic, queueId, queueOffset);
  const maxOffset = firstAtOrAbove(physicalAt, bounds.minOffset, bounds.maxOffset, physicalEnd);
  const last = maxOffset > bounds.minOffset ? queues.read(topic, queueId, maxOffset - 1, 1) : undefined;
  const lastPhysical =
    last !== undefined && last.length > 0 && isRecordUnit(last, 0)
      ? unitPhysicalOffset(last, 0) + unitSize(last, 0)
      : -1;
  return { minOffset: bounds.minOffset, maxOffset, lastPhysical };
}

/** Physical offset of a unit's record; -1 for a blank, unwritten or missing unit. */
export function physicalOffsetOf(queues: QueueFiles, topic: string, queueId: number, queueOffset: number): number {
  const unit = queues.read(topic, queueId, queueOffset, 1);
  return unit.length === UNIT_BYTES && isRecordUnit(unit, 0) ? unitPhysicalOffset(unit, 0) : -1;
}

/**
 * First queue offset from `bounds.minOffset` on whose record is still in the log, which begins at `minPhysical`; `maxOffset` when none
 * is. 4.9: ConsumeQueue#correctMinOffset, which looks at the first file only.
 */
export function minAbove(
  queues: QueueFiles,
  topic: string,
  queueId: number,
  minPhysical: number,
  bounds: Pick<QueueBounds, 'minOffset' | 'maxOffset'>,
): number {
  const physicalAt = (queueOffset: number): number => physicalOffsetOf(queues, topic, queueId, queueOffset);
  return firstAtOrAbove(physicalAt, bounds.minOffset, bounds.maxOffset, minPhysical);
}

/** Physical offset behind the last record that any usable queue has a unit of; -1 when there is none. */
export function lastQueuedEnd(queues: QueueFiles): number {
  let end = -1;
  for (const { topic, queueId } of queues.list().queues) {
    try {
      end = Math.max(end, queues.bounds(topic, queueId).lastPhysical);
    } catch (error) {
      // A damaged queue tells nothing here. That one cannot be read must not look as if there were no records.
      if (!(error instanceof KernelError)) throw error;
    }
  }
  return end;
}
