import type { StoreFiles } from '../files/contract.js';
import type { StorePaths } from '../files/paths.js';

/** Something that is not as it should be (`damage`), or that a person should know (`note`). */
export interface Finding {
  readonly kind: 'damage' | 'note';
  /** Path of the file. */
  readonly file: string;
  /** Byte in that file; missing when the file as a whole is meant. */
  readonly position?: number;
  readonly what: string;
  /** What to do about it. */
  readonly todo: string;
}

/** Sizes that the store was made with, where they are known; the others are found from its files. */
export interface StoreSizes {
  readonly segmentBytes?: number;
  readonly queueFileBytes?: number;
  /** maxHashSlotNum and maxIndexNum. */
  readonly indexSlots?: number;
  readonly indexEntries?: number;
}

export interface VerifyOptions {
  readonly files: StoreFiles;
  readonly paths: StorePaths;
  readonly sizes?: StoreSizes;
  /** Goes on behind the first damage. */
  readonly all?: boolean;
  /** Wall clock, ms. */
  readonly nowMs: number;
  /** A broker runs on it: what it has not finished looks like damage, and is told as a note. */
  readonly live?: boolean;
  /** Bytes of files looked at, of how many there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface VerifyReport {
  readonly findings: readonly Finding[];
  /** Findings beyond those that are kept. */
  readonly more: number;
  readonly damaged: boolean;
  /** False when the first damage ended it. */
  readonly complete: boolean;
  readonly normalExit: boolean;
  readonly segmentBytes: number;
  readonly segments: number;
  /** First physical offset, and the one after the last whole record. */
  readonly minOffset: number;
  readonly validEnd: number;
  /** Newest store time of a record, ms. */
  readonly newestMs: number;
  readonly records: number;
  readonly queues: number;
  /** Units whose record is in the log and is theirs. */
  readonly units: number;
  /** Records of topics that have no queue any more: they were deleted. */
  readonly recordsWithoutQueue: number;
  readonly indexFiles: number;
  readonly indexEntries: number;
  readonly configFiles: number;
}
