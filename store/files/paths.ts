import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import type { StoreFiles } from './contract.js';

/** Where everything of a store lies (4.9: StorePathConfigHelper). */
export interface StorePaths {
  readonly root: string;
  readonly commitLog: string;
  readonly consumeQueue: string;
  readonly consumeQueueExt: string;
  readonly index: string;
  readonly config: string;
  readonly checkpoint: string;
  /** Exists while a broker runs; found at start it says that the last one did not end well. */
  readonly abort: string;
  readonly lock: string;
  /** Files under construction. Beside the folders that 4.9 lists, never inside one: it refuses a file of the wrong size. */
  readonly temporary: string;
}

/** `commitLogDir` is the setting storePathCommitLog; unset or empty means `<root>/commitlog`. */
export function storePaths(root: string, commitLogDir?: string): StorePaths {
  return {
    root,
    commitLog: commitLogDir === undefined || commitLogDir === '' ? join(root, 'commitlog') : commitLogDir,
    consumeQueue: join(root, 'consumequeue'),
    consumeQueueExt: join(root, 'consumequeue_ext'),
    index: join(root, 'index'),
    config: join(root, 'config'),
    checkpoint: join(root, 'checkpoint'),
    abort: join(root, 'abort'),
    lock: join(root, 'lock'),
    temporary: join(root, '.tmp'),
  };
}

/** A file's name is the offset of its first byte in 20 digits (4.9: UtilAll#offset2FileName). */
export function segmentName(baseOffset: number): string {
  assert(Number.isSafeInteger(baseOffset) && baseOffset >= 0, `file offset ${baseOffset} is not a safe integer`);
  return String(baseOffset).padStart(20, '0');
}

/** The offset that a name stands for, or -1 when it is no such name. */
export function parseSegmentName(name: string): number {
  if (!/^[0-9]{20}$/.test(name)) return -1;
  const offset = Number(name);
  return Number.isSafeInteger(offset) ? offset : -1;
}

/** Names of this kind in the temporary folder are notes for recovery, not leftovers. */
export const CUT_MARK_PREFIX = 'cut-';

/** Where the segment that begins at `base` waits, complete, until the writer has come so far. */
export function readySegmentPath(temporaryDir: string, base: number): string {
  return join(temporaryDir, `next-${segmentName(base)}`);
}

/** Removes what a crash left under construction. Call it while the store's lock is held and before any thread makes files. */
export function clearTemporary(files: StoreFiles, temporaryDir: string): void {
  for (const name of files.list(temporaryDir)) {
    if (!name.startsWith(CUT_MARK_PREFIX)) files.remove(join(temporaryDir, name));
  }
}
