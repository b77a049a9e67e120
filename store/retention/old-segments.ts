import { join } from 'node:path';
import { systemCodeOf } from '../../kernel/base/errors.js';
import { listBases } from '../commitlog/segment-check.js';
import type { StoreFiles } from '../files/contract.js';
import { segmentName } from '../files/paths.js';

/** One file of the log: the physical offset of its first byte, and when it was last written to (wall clock, ms). */
export interface SegmentAge {
  readonly base: number;
  readonly modifiedMs: number;
}

/** What may go, and what must. */
export interface DeletionRules {
  readonly segmentBytes: number;
  /** Files that were not written to since then (wall clock, ms) go. */
  readonly writtenBeforeMs: number;
  /** So many of the oldest go whatever their age, because the disk is full. */
  readonly forced: number;
  /** No more than this go at once (4.9: MappedFileQueue.DELETE_FILES_BATCH_MAX). */
  readonly filesMax: number;
  /** Nothing at or beyond this physical offset may go: it is not synced, or not in the queues yet. */
  readonly settledEnd: number;
}

/** The files of the log, the oldest first. */
export function segmentAges(files: StoreFiles, dir: string): SegmentAge[] {
  return listBases(files, dir).flatMap((base) => {
    try {
      return [{ base, modifiedMs: files.modifiedMs(join(dir, segmentName(base))) }];
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/**
 * Where the log is to begin: behind the files that go, which are always the first ones, and never the last one. 4.9:
 * MappedFileQueue#deleteExpiredFileByTime
 */
export function newLogMin(ages: readonly SegmentAge[], logMin: number, rules: DeletionRules): number {
  const { segmentBytes, writtenBeforeMs, forced, filesMax, settledEnd } = rules;
  let min = logMin;
  let count = 0;
  for (const { base, modifiedMs } of ages.slice(0, -1)) {
    const end = base + segmentBytes;
    if (end <= logMin) continue;
    const goes = count < forced || modifiedMs <= writtenBeforeMs;
    if (!goes || count === filesMax || end > settledEnd) break;
    min = end;
    count++;
  }
  return min;
}

/** Removes the oldest file that ends at or before `logMin`, never the last file; undefined when there is none. The folder is synced. */
export function removeOldest(files: StoreFiles, dir: string, segmentBytes: number, logMin: number): string | undefined {
  const bases = listBases(files, dir);
  if (bases.length < 2 || bases[0] + segmentBytes > logMin) return undefined;
  const name = segmentName(bases[0]);
  files.remove(join(dir, name));
  return name;
}
