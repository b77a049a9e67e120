import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import { isValidTopic } from '../../protocol/message/names.js';
import { checkSegments, listBases } from '../commitlog/segment-check.js';
import type { StoreFiles } from '../files/contract.js';
import { segmentName } from '../files/paths.js';
import type { ExtFiles } from './ext-files.js';
import { extEndBefore, extSizeAt } from './ext-scan.js';
import { extOffsetOf, isExtAddress, unitExtOffset } from './ext-unit.js';
import type { QueueFiles, QueueId } from './queue-files.js';
import type { QueueBounds } from './queue-scan.js';
import { UNIT_BYTES } from './unit.js';

const CHUNK_BYTES = 256 * 1024;

/**
 * Throws KernelError when a queue's ext files have a wrong size or a gap, or when the ext unit of the queue's first message is missing.
 * Reads only.
 */
export function checkExt(
  queues: QueueFiles,
  ext: ExtFiles,
  queue: QueueId,
  bounds: QueueBounds,
  physicalMin: number,
): void {
  const { topic, queueId } = queue;
  const dir = ext.queueDir(topic, queueId);
  checkSegments(queues.files, dir, ext.fileBytes);
  const first = queues.minAbove(topic, queueId, physicalMin, bounds);
  if (first >= bounds.maxOffset) return;
  const unit = queues.read(topic, queueId, first, 1);
  const extOffset = unit.length === UNIT_BYTES ? unitExtOffset(unit, 0) : -1;
  if (extOffset < 0 || extSizeAt(ext, topic, queueId, extOffset) > 0) return;
  throw new KernelError(
    'EXT_UNIT_MISSING',
    `${dir} has no ext unit at ${extOffset}, where queue offset ${first} points to`,
  );
}

/**
 * Makes what a queue's ext files hold end where its units say, `maxOffset` being the offset after the last: later files go, and what
 * stands behind the end in its own file reads as zeros (4.9: ConsumeQueueExt#truncateByMaxAddress).
 */
export function cutExt(queues: QueueFiles, ext: ExtFiles, topic: string, queueId: number, maxOffset: number): void {
  const bases = ext.bases(topic, queueId);
  if (bases.length === 0) return;
  const end = extEndBefore(queues, ext, topic, queueId, maxOffset);
  ext.forget(topic, queueId);
  if (end === 0) return ext.remove(topic, queueId);
  for (const base of bases.reverse()) {
    const path = join(ext.queueDir(topic, queueId), segmentName(base));
    if (base >= end) queues.files.remove(path);
    else if (base + ext.fileBytes > end) zeroFrom(queues, path, end - base, ext.fileBytes);
  }
}

/**
 * Removes the ext files that end before `minAddress`, but for the last one; returns their paths. `minAddress` is what stands in the
 * place of the tags code in the unit of the queue's first message, as it is there (a bigint), or its ext offset (a number, see
 * unitExtOffset); a tags code removes nothing. Whoever has them open keeps them until `ExtFiles#forget`.
 * 4.9: ConsumeQueueExt#truncateByMinAddress
 */
export function expireExt(
  files: StoreFiles,
  extDir: string,
  topic: string,
  queueId: number,
  minAddress: number | bigint,
): string[] {
  const plain = typeof minAddress === 'bigint' ? !isExtAddress(minAddress) : minAddress < 0;
  if (plain || !isValidTopic(topic)) return [];
  const first = typeof minAddress === 'bigint' ? extOffsetOf(minAddress) : minAddress;
  const dir = join(extDir, topic, String(queueId));
  const removed: string[] = [];
  for (const base of listBases(files, dir).slice(0, -1)) {
    const path = join(dir, segmentName(base));
    if (base + files.sizeOf(path) >= first) break;
    files.remove(path);
    removed.push(path);
  }
  return removed;
}

/** Removes the ext files of queues that do not exist; returns what for the log. */
export function removeOrphans(queues: QueueFiles, ext: ExtFiles): string[] {
  const { files } = queues;
  const known = new Set(queues.list().queues.map(({ topic, queueId }) => join(topic, String(queueId))));
  const notes: string[] = [];
  for (const topic of files.list(ext.dir).filter(isValidTopic)) {
    for (const name of files.list(join(ext.dir, topic))) {
      const queue = join(topic, name);
      if (!/^(?:0|[1-9]\d{0,9})$/.test(name) || known.has(queue)) continue;
      files.removeTree(join(ext.dir, queue));
      notes.push(`${join(ext.dir, queue)} was removed: there is no such queue`);
    }
  }
  return notes;
}

/** Up to the first chunk that is all zeros: units follow each other. */
function zeroFrom(queues: QueueFiles, path: string, position: number, fileBytes: number): void {
  const file = queues.files.open(path, 'readWrite');
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, fileBytes - position));
  let changed = false;
  try {
    for (let at = position; at < fileBytes; at += chunk.length) {
      const length = file.read(chunk, 0, Math.min(chunk.length, fileBytes - at), at);
      if (chunk.subarray(0, length).every((byte) => byte === 0)) break;
      file.write(chunk.fill(0), 0, length, at);
      changed = true;
    }
    if (changed) file.sync();
  } finally {
    file.close();
  }
}
