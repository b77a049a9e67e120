import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import type { StoreFiles } from '../files/contract.js';
import { parseSegmentName, segmentName } from '../files/paths.js';

export interface SegmentListing {
  /** First offsets of the files, ascending, without a gap. */
  readonly bases: readonly number[];
  /** Path of an empty last file: made, not extended, when the machine stopped. */
  readonly emptyLast: string | undefined;
  /** Names that are no segment's; left alone. */
  readonly foreign: readonly string[];
}

/** First offsets of the segments in a folder, ascending; nothing is checked. */
export function listBases(files: StoreFiles, dir: string): number[] {
  const bases: number[] = [];
  for (const name of files.list(dir)) {
    const base = parseSegmentName(name);
    if (base >= 0) bases.push(base);
  }
  return bases;
}

/**
 * What lies in a folder of segments (commit log or one queue). A file of the wrong length means a changed setting or a damaged
 * store: positions would be wrong, so it refuses as 4.9 does (4.9: MappedFileQueue#doLoad), but for an empty last file.
 */
export function checkSegments(files: StoreFiles, dir: string, segmentBytes: number): SegmentListing {
  const foreign: string[] = [];
  const bases: number[] = [];
  for (const name of files.list(dir)) {
    const base = parseSegmentName(name);
    if (base < 0) foreign.push(name);
    else bases.push(base);
  }
  let emptyLast: string | undefined;
  const lastBase = bases[bases.length - 1];
  if (lastBase !== undefined && files.sizeOf(join(dir, segmentName(lastBase))) === 0) {
    emptyLast = join(dir, segmentName(lastBase));
    bases.pop();
  }
  bases.forEach((base, index) => {
    checkOne(files, join(dir, segmentName(base)), base, segmentBytes);
    const wanted = (bases[0] ?? 0) + index * segmentBytes;
    if (base !== wanted) throw missing(join(dir, segmentName(wanted)), segmentName(base));
  });
  return { bases, emptyLast, foreign };
}

function checkOne(files: StoreFiles, path: string, base: number, segmentBytes: number): void {
  const size = files.sizeOf(path);
  if (size !== segmentBytes) {
    throw new KernelError(
      'SEGMENT_SIZE',
      `${path} has ${size} bytes, but the setting for files of its kind is ${segmentBytes}`,
      {
        remedy:
          'start with the mappedFileSize… setting that the store was made with; if it did not change, the file is damaged',
      },
    );
  }
  if (base % segmentBytes !== 0) {
    throw new KernelError('SEGMENT_NAME', `${path}: its name is not a multiple of its size of ${segmentBytes} bytes`, {
      remedy: 'the file was renamed or comes from another store; move it away',
    });
  }
}

function missing(path: string, next: string): KernelError {
  return new KernelError('SEGMENT_MISSING', `${path} is missing, though ${next} after it is there`, {
    remedy:
      'restore the file from a copy, or move the later files away and start once with --set truncateDamagedLog=true: ' +
      'what is in them is lost',
  });
}
