import { join } from 'node:path';
import { segmentName } from '../files/paths.js';
import type { QueueFiles } from './queue-files.js';
import { nextData } from './queue-data.js';
import { boundsWithin, type QueueBounds } from './queue-scan.js';
import { UNIT_BYTES } from './unit.js';

/**
 * Removes the units whose records lie at or beyond `physicalEnd`, the log's valid end, and all that stands behind the first unit that
 * is not valid (after a power cut a later page may be there while an earlier one is not). Later files go; the file that holds the end
 * keeps its size and its name keeps the offset. Returns what is left. 4.9: ConsumeQueue#truncateDirtyLogicFiles
 */
export function truncateBeyond(queues: QueueFiles, topic: string, queueId: number, physicalEnd: number): QueueBounds {
  const bounds = boundsWithin(queues, topic, queueId, physicalEnd);
  const end = bounds.maxOffset * UNIT_BYTES;
  const dir = queues.queueDir(topic, queueId);
  queues.forget(topic, queueId);
  const bases = queues.bases(topic, queueId);
  for (const base of bases.reverse()) {
    const path = join(dir, segmentName(base));
    if (base > end) queues.files.remove(path);
    else if (base + queues.fileBytes > end) zeroFrom(queues, path, end - base);
  }
  return bounds;
}

/** True when anything but zeros stands behind a queue's valid end. */
export function hasUnitsBehind(queues: QueueFiles, topic: string, queueId: number, maxOffset: number): boolean {
  const end = maxOffset * UNIT_BYTES;
  const dir = queues.queueDir(topic, queueId);
  for (const base of queues.bases(topic, queueId)) {
    if (base + queues.fileBytes <= end) continue;
    const file = queues.files.open(join(dir, segmentName(base)), 'read');
    try {
      if (nextData(file, Math.max(0, end - base), queues.fileBytes) !== undefined) return true;
    } finally {
      file.close();
    }
  }
  return false;
}

/** True when a file begins behind a queue's valid end: with 4.9, the third from last on, it would hide that end. */
export function hasFilesBehind(queues: QueueFiles, topic: string, queueId: number, maxOffset: number): boolean {
  return queues.bases(topic, queueId).some((base) => base > maxOffset * UNIT_BYTES);
}

function zeroFrom(queues: QueueFiles, path: string, position: number): void {
  const file = queues.files.open(path, 'readWrite');
  try {
    let changed = false;
    for (let from = position; from < queues.fileBytes;) {
      const data = nextData(file, from, queues.fileBytes);
      if (data === undefined) break;
      file.write(Buffer.alloc(data.length), 0, data.length, data.position);
      changed = true;
      from = data.position + data.length;
    }
    if (changed) file.sync();
  } finally {
    file.close();
  }
}
