import { join } from 'node:path';
import type { StoreFiles } from '../files/contract.js';
import { CUT_MARK_PREFIX, parseSegmentName, segmentName } from '../files/paths.js';

/**
 * Makes all of a segment from `position` on read as zeros, so that no stale record comes back once new ones are written before it:
 * truncates to the tail, extends to full size, syncs. A mark in the temporary folder says so beforehand, since a power cut in
 * between leaves a file of the wrong size, which a start would have to refuse.
 */
export function cutSegment(
  files: StoreFiles,
  dir: string,
  temporaryDir: string,
  segmentBytes: number,
  base: number,
  position: number,
): void {
  const mark = join(temporaryDir, CUT_MARK_PREFIX + segmentName(base));
  files.replace(mark, '', false);
  const file = files.open(join(dir, segmentName(base)), 'readWrite');
  try {
    file.truncate(position);
    file.truncate(segmentBytes);
    file.sync();
  } finally {
    file.close();
  }
  files.remove(mark);
}

/** Extends again what a cut had shortened when the machine stopped. What is missing was to be zeros. */
export function finishCuts(files: StoreFiles, dir: string, temporaryDir: string, segmentBytes: number): void {
  for (const name of files.list(temporaryDir)) {
    if (!name.startsWith(CUT_MARK_PREFIX)) continue;
    const base = parseSegmentName(name.slice(CUT_MARK_PREFIX.length));
    const path = join(dir, segmentName(Math.max(0, base)));
    if (base >= 0 && files.exists(path) && files.sizeOf(path) < segmentBytes) {
      const file = files.open(path, 'readWrite');
      try {
        file.truncate(segmentBytes);
        file.sync();
      } finally {
        file.close();
      }
    }
    files.remove(join(temporaryDir, name));
  }
}
