import { join } from 'node:path';
import { systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFiles } from '../files/contract.js';
import { isIndexFileName } from './file-names.js';
import { emptyHeader, INDEX_HEADER_BYTES, type IndexHeader, readIndexHeader } from './layout.js';

/** Names of the index's files, the oldest first; empty when the folder is missing. */
export function listIndexFiles(files: StoreFiles, dir: string): string[] {
  return files.list(dir).filter(isIndexFileName);
}

/** What a file's header says; that of an empty file when it ends within it. */
export function readHeaderOf(files: StoreFiles, path: string): IndexHeader {
  const file = files.open(path, 'read');
  try {
    const bytes = Buffer.alloc(INDEX_HEADER_BYTES);
    return file.read(bytes, 0, bytes.length, 0) < bytes.length ? emptyHeader() : readIndexHeader(bytes);
  } finally {
    file.close();
  }
}

/**
 * Removes the files whose last record lies below `minPhysical`, the first offset that the log still has: the oldest first, up to the
 * first that is still needed, and never the last. Returns the names. 4.9: IndexService#deleteExpiredFile
 */
export function expireIndex(files: StoreFiles, dir: string, minPhysical: number): string[] {
  const removed: string[] = [];
  for (const name of listIndexFiles(files, dir).slice(0, -1)) {
    const path = join(dir, name);
    if (!endsBelow(files, path, minPhysical)) break;
    files.remove(path);
    removed.push(name);
  }
  return removed;
}

/** A file that is not the last is full: its header is final. */
function endsBelow(files: StoreFiles, path: string, minPhysical: number): boolean {
  try {
    return readHeaderOf(files, path).endPhysical < minPhysical;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
