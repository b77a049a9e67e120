import { join } from 'node:path';
import { scanRecord } from '../commitlog/record-scan.js';
import { RECORD_HEAD_BYTES } from '../commitlog/record-layout.js';
import type { Segments } from '../commitlog/segments.js';
import type { StoreFiles } from '../files/contract.js';
import { isIndexFileName } from './file-names.js';
import { readHeaderOf } from './index-folder.js';
import type { IndexHeader, IndexLayout } from './layout.js';

export interface IndexCheck {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly layout: IndexLayout;
  readonly normalExit: boolean;
  /** The checkpoint's index time. */
  readonly checkpointMs: number;
  /** The log as it is after its recovery, and where it ends. */
  readonly segments: Segments;
  readonly validEnd: number;
}

export interface IndexFound {
  /** Where indexing goes on; what lies before is indexed. */
  readonly from: number;
  /** Paths of the files that cannot be trusted. */
  readonly doubtful: readonly string[];
  /** Newest store time that the files to be kept vouch for. */
  readonly keptMs: number;
  readonly notes: readonly string[];
}

interface Kept {
  readonly header: IndexHeader;
  readonly newestMs: number;
}

/**
 * Which files of the folder hold. After a normal end all that are whole, else only those that the checkpoint vouches for; the first
 * that does not hold takes all after it along. Indexing goes on at the last record that the kept ones have, so that no hole stays:
 * 4.9 goes on behind its queues (4.9: IndexService#load). Changes nothing.
 */
export function checkIndex(check: IndexCheck): IndexFound {
  const { files, dir, segments, validEnd } = check;
  const all = files.list(dir);
  const names = all.filter(isIndexFileName);
  const notes = all.filter((name) => !isIndexFileName(name)).map((name) => `${dir}/${name}: not an index file's name`);
  let kept: Kept | undefined;
  let good = 0;
  for (const name of names) {
    const path = join(dir, name);
    const header = files.sizeOf(path) === check.layout.fileBytes ? readHeaderOf(files, path) : undefined;
    const problem = header === undefined ? `it has ${files.sizeOf(path)} bytes` : problemOf(header, check, kept);
    if (problem !== undefined || header === undefined) {
      if (problem !== EMPTY) notes.push(`${path} and later index files are built again: ${problem}`);
      break;
    }
    kept = { header, newestMs: Math.max(kept?.newestMs ?? 0, header.endTimestamp) };
    good++;
  }
  const doubtful = names.slice(good).map((name) => join(dir, name));
  const nothingToIndex = check.normalExit && check.checkpointMs === 0 && names.length === 0 && files.exists(dir);
  const from = kept === undefined ? segments.minOffset : Math.max(segments.minOffset, kept.header.endPhysical);
  return { from: nothingToIndex ? validEnd : from, doubtful, keptMs: kept?.newestMs ?? 0, notes };
}

const EMPTY = 'nothing was added to it';

function problemOf(header: IndexHeader, check: IndexCheck, before: Kept | undefined): string | undefined {
  const { layout, normalExit, checkpointMs, segments, validEnd } = check;
  const { next, slotsUsed, beginPhysical, endPhysical, beginTimestamp, endTimestamp } = header;
  if (next <= 1) return EMPTY;
  if (!normalExit && endTimestamp > checkpointMs) return 'the last broker did not end well before it was synced';
  const numbers = [beginPhysical, endPhysical, beginTimestamp, endTimestamp];
  if (next > layout.entries || slotsUsed < 0 || slotsUsed > next || !numbers.every(isOffset))
    return 'its header makes no sense';
  if (beginPhysical > endPhysical || endPhysical < (before?.header.endPhysical ?? 0))
    return 'its offsets are not in order';
  if (before !== undefined && before.header.next < layout.entries) return 'the file before it is not full';
  if (endPhysical >= validEnd) return `the log ends at ${validEnd}, before its last record at ${endPhysical}`;
  if (endPhysical >= segments.minOffset && !recordAt(segments, endPhysical)) return `no record lies at ${endPhysical}`;
  return undefined;
}

function isOffset(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function recordAt(segments: Segments, physicalOffset: number): boolean {
  const head = Buffer.alloc(RECORD_HEAD_BYTES);
  const read = segments.read(head, 0, head.length, physicalOffset);
  return scanRecord(head, 0, read, physicalOffset) > 0;
}
