import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { MemoryFiles } from '../../store/files/memory-files.js';
import type { StorePaths } from '../../store/files/paths.js';
import { defaultOptions } from './default-options.js';
import { dispatchLog } from './dispatch-log.js';

const FRESH_BYTES_MAX = 1 << 28;
const delayLevelsMs = parseDelayLevels(defaultOptions().messageDelayLevel);

export interface FileSizes {
  readonly segmentBytes: number;
  readonly queueFileBytes: number;
}

/**
 * Builds the queues of a store from its log into memory and compares them with its files, byte by byte. Fails at the first difference;
 * returns how many files were compared. `leftOut`: topics that were deleted have none to compare.
 */
export function compareWithFreshBuild(
  files: StoreFiles,
  paths: StorePaths,
  { segmentBytes, queueFileBytes }: FileSizes,
  leftOut: ReadonlySet<string> = new Set(),
): number {
  const fresh = new MemoryFiles(FRESH_BYTES_MAX);
  const queues = new QueueFiles({
    files: fresh,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: queueFileBytes,
    openMax: 16,
    mode: 'readWrite',
  });
  const segments = new Segments(files, paths.commitLog, paths.temporary, segmentBytes);
  segments.open('read');
  dispatchLog(segments, queues, segments.minOffset, { delayLevels: delayLevelsMs });
  segments.close();
  let compared = 0;
  for (const { topic, queueId } of queues.list().queues)
    if (!leftOut.has(topic)) compared += compareFolder(fresh, files, queues.queueDir(topic, queueId));
  return compared;
}

function compareFolder(fresh: StoreFiles, files: StoreFiles, dir: string): number {
  const [made, kept] = [fresh.list(dir), files.list(dir)];
  // A file that begins where the queue ends may stay.
  const isEmpty = (name: string): boolean => files.readAll(`${dir}/${name}`).every((byte) => byte === 0);
  if (kept.length === made.length + 1 && isEmpty(kept.at(-1)!)) kept.pop();
  if (made.join() !== kept.join()) throw new Error(`${dir} holds ${kept.join()}, a fresh build ${made.join()}`);
  for (const name of made) {
    if (!fresh.readAll(`${dir}/${name}`).equals(files.readAll(`${dir}/${name}`)))
      throw new Error(`${dir}/${name} is not what a fresh build gives`);
  }
  return made.length;
}
