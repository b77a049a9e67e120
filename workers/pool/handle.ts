import type { Pool } from '../../kernel/threads/contract.js';
import type { IndexAnswer } from '../../store/index/query.js';
import type { ReplaceFile } from '../../store/metadata/config-file.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { SegmentAge } from '../../store/retention/old-segments.js';
import type { QueueMinima } from '../../store/retention/queue-minima.js';
import expireFiles, { type ExpireFilesArgs } from './expire-files.js';
import type { MakeSegmentArgs } from './make-segment.js';
import oldSegments, { type OldSegmentsArgs } from './old-segments.js';
import queryIndex, { type QueryIndexArgs } from './query-index.js';
import minima, { type QueueMinimaArgs } from './queue-minima.js';
import type { SearchOffsetArgs } from './search-offset.js';
import type { WriteFileArgs } from './write-file.js';

const writeFileTask = new URL('./write-file.js', import.meta.url);
const makeSegmentTask = new URL('./make-segment.js', import.meta.url);
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

export function searchOffsetOn(pool: Pool, args: SearchOffsetArgs): Promise<number> {
  return pool.run<number>(searchOffsetTask, args);
}

/** Work on the store's files: on pool threads; on the caller's when the files are its own (memory). */
export interface StoreTasks {
  queryIndex(args: QueryIndexArgs): Promise<IndexAnswer>;
  oldSegments(args: OldSegmentsArgs): Promise<SegmentAge[]>;
  queueMinima(args: QueueMinimaArgs): Promise<QueueMinima>;
  expireFiles(args: ExpireFilesArgs): Promise<string[]>;
}

/** `files` are the memory store's; missing when the store lies on a disk. */
export function storeTasks(pool: Pool, files: StoreFiles | undefined): StoreTasks {
  const task = <A, R>(name: string, local: (args: A, files: StoreFiles) => R) => {
    const url = new URL(`./${name}.js`, import.meta.url);
    return async (args: A): Promise<R> => (files === undefined ? pool.run<R>(url, args) : local(args, files));
  };
  return {
    queryIndex: task('query-index', queryIndex),
    oldSegments: task('old-segments', oldSegments),
    queueMinima: task('queue-minima', minima),
    expireFiles: task('expire-files', expireFiles),
  };
}
