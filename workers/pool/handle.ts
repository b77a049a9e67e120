import type { Pool } from '../../kernel/threads/contract.js';
import type { ReplaceFile } from '../../store/metadata/config-file.js';
import type { MakeSegmentArgs } from './make-segment.js';
import type { WriteFileArgs } from './write-file.js';

const writeFileTask = new URL('./write-file.js', import.meta.url);
const makeSegmentTask = new URL('./make-segment.js', import.meta.url);

/** Writes whole files durably on a pool thread. */
export function replaceFileOn(pool: Pool): ReplaceFile {
  return (path, content, keepBackup) => {
    const args: WriteFileArgs = { path, content, keepBackup };
    return pool.run<void>(writeFileTask, args);
  };
}

/** Makes a segment ahead on a pool thread. */
export function makeSegmentOn(pool: Pool, args: MakeSegmentArgs): Promise<void> {
  return pool.run<void>(makeSegmentTask, args);
}
