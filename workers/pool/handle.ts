import type { Pool } from '../../kernel/threads/contract.js';
import type { IndexAnswer } from '../../store/index/query.js';
import type { ReplaceFile } from '../../store/metadata/config-file.js';
import type { MakeSegmentArgs } from './make-segment.js';
import type { QueryIndexArgs } from './query-index.js';
import type { SearchOffsetArgs } from './search-offset.js';
import type { WriteFileArgs } from './write-file.js';

const writeFileTask = new URL('./write-file.js', import.meta.url);
const makeSegmentTask = new URL('./make-segment.js', import.meta.url);
const queryIndexTask = new URL('./query-index.js', import.meta.url);
const searchOffsetTask = new URL('./search-offset.js', import.meta.url);

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

export function queryIndexOn(pool: Pool, args: QueryIndexArgs): Promise<IndexAnswer> {
  return pool.run<IndexAnswer>(queryIndexTask, args);
}

export function searchOffsetOn(pool: Pool, args: SearchOffsetArgs): Promise<number> {
  return pool.run<number>(searchOffsetTask, args);
}
