import { join } from 'node:path';
import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';
import { checkSegments } from '../commitlog/segment-check.js';
import { foreign } from '../commitlog/damage.js';
import type { StoreFiles } from './contract.js';
import { CUT_MARK_PREFIX, type StorePaths } from './paths.js';

/**
 * Refuses a store that is none of ours, before its lock is taken and anything is made in it: STORE_FOREIGN for the folders of DLedger
 * and RocketMQ 5, STORE_LAYOUT for a file in a folder's place, SEGMENT_… for commit log files that cannot be those of
 * `segmentBytes`. Reads names and sizes only.
 */
export function checkLayout(files: StoreFiles, paths: StorePaths, segmentBytes: number): void {
  const { root, commitLog, consumeQueue, consumeQueueExt, index, config, temporary } = paths;
  for (const dir of [root, commitLog, consumeQueue, consumeQueueExt, index, config, temporary]) checkFolder(files, dir);
  for (const name of files.list(root)) refuseForeign(join(root, name), name);
  for (const name of files.list(consumeQueue)) {
    if (name === 'CURRENT' || name.startsWith('MANIFEST-'))
      throw foreign(`${join(consumeQueue, name)}: the queues lie in RocksDB, as RocketMQ 5 can keep them`);
  }
  // After a cut that the machine's end interrupted a file is shorter; opening the log finishes it.
  if (files.list(temporary).some((name) => name.startsWith(CUT_MARK_PREFIX))) return;
  checkSegments(files, commitLog, segmentBytes);
}

function refuseForeign(path: string, name: string): void {
  if (name.startsWith('dledger-')) throw foreign(`${path}: the messages of this store lie in DLedger's log`);
  if (name === 'timerwheel' || name === 'timerlog')
    throw foreign(`${path}: a store of RocketMQ 5, with messages that wait there for their time`);
}

/** Throws STORE_LAYOUT when something else has its place. */
function checkFolder(files: StoreFiles, dir: string): void {
  try {
    files.list(dir);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOTDIR') throw error;
    throw new KernelError('STORE_LAYOUT', `${dir} is a file, and must be a folder`, {
      cause: error,
      remedy: 'move the file away, or choose another folder with --store; nothing was changed',
    });
  }
}
