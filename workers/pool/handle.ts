import type { Pool } from '../../kernel/threads/contract.js';
import type { ReplaceFile } from '../../store/metadata/config-file.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { SegmentAge } from '../../store/retention/old-segments.js';
import type { QueueMinima } from '../../store/retention/queue-minima.js';
import expireFiles, { type ExpireFilesArgs } from './expire-files.js';
import oldSegments, { type OldSegmentsArgs } from './old-segments.js';
import minima, { type QueueMinimaArgs } from './queue-minima.js';
import type { WriteFileArgs } from './write-file.js';

const writeFileTask = new URL('./write-file.js', import.meta.url);

/** Writes whole files durably on a pool thread. */
export function replaceFileOn(pool: Pool): ReplaceFile {
  return (path, content, keepBackup) => {
    const args: WriteFileArgs = { path, content, keepBackup };
    return pool.run<void>(writeFileTask, args);
  };
}

/** What retention asks of the store's files. */
export interface RetentionTasks {
  oldSegments(args: OldSegmentsArgs): Promise<SegmentAge[]>;
  queueMinima(args: QueueMinimaArgs): Promise<QueueMinima>;
  expireFiles(args: ExpireFilesArgs): Promise<string[]>;
}

/** On pool threads; on the caller's when the store's files are its own (memory). */
export function retentionTasks(pool: Pool, files: StoreFiles | undefined): RetentionTasks {
  const task = <A, R>(name: string, local: (args: A, files: StoreFiles) => R) => {
    const url = new URL(`./${name}.js`, import.meta.url);
    return async (args: A): Promise<R> => (files === undefined ? pool.run<R>(url, args) : local(args, files));
  };
  return {
    oldSegments: task('old-segments', oldSegments),
    queueMinima: task('queue-minima', minima),
    expireFiles: task('expire-files', expireFiles),
  };
}
