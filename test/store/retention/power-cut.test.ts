import assert from 'node:assert/strict';
import { markRunning, writeCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import type { StoreFiles } from '../../../store/files/contract.js';
import { storePaths } from '../../../store/files/paths.js';
import { recoverStore } from '../../../store/recovery.js';
import { removeOldest } from '../../../store/retention/old-segments.js';
import { dispatchLog } from '../../support/dispatch-log.js';
import { LogBuilder, type Placed } from '../../support/log-builder.js';
import { LossyFiles, PowerCut } from '../../support/lossy-files.js';
import { SeededRandom } from '../../support/seeded-random.js';

const paths = storePaths('/s');
const SEGMENT = 4096;
const NOW = 1_700_000_100_000;
const segmentsOf = (files: StoreFiles): Segments => new Segments(files, paths.commitLog, paths.temporary, SEGMENT);
const queuesOf = (files: StoreFiles): QueueFiles => {
  const place = { files, dir: paths.consumeQueue, temporaryDir: paths.temporary, fileBytes: 200, openMax: 8 };
  return new QueueFiles({ ...place, mode: 'readWrite' });
};

/** Sixty messages of two queues, dispatched and synced; queue U has the first ten and no others. */
function store(files: LossyFiles): Placed[] {
  const segments = segmentsOf(files);
  segments.open();
  const log = new LogBuilder(segments);
  for (let index = 0; index < 60; index++)
    log.append({ topic: index < 10 ? 'U' : 'T', body: Buffer.alloc(400), storeTimestamp: NOW - 10_000 + index * 100 });
  for (const base of segments.bases()) segments.fileAt(base, 'readWrite')?.file.sync();
  const queues = queuesOf(files);
  dispatchLog(segments, queues, 0);
  queues.syncDirty();
  const end = NOW - 10_000 + 5900;
  writeCheckpoint(files, paths.checkpoint, { physicMsgTimestamp: end, logicsMsgTimestamp: end, indexMsgTimestamp: 0 });
  markRunning(files, paths.abort);
  return log.placed;
}

/** What a pass removes once readers look elsewhere. */
function remove(files: LossyFiles, logMin: number, minimum: number): void {
  while (removeOldest(files, paths.commitLog, SEGMENT, logMin) !== undefined);
  queuesOf(files).dropBelow('T', 0, minimum);
  queuesOf(files).dropBelow('U', 0, 10);
}

describe('a power cut while old files are removed', () => {
  it('leaves a store that opens, whose queues begin where the log does', () => {
    const logMin = 4 * SEGMENT;
    for (let cut = 1; ; cut++) {
      const files = new LossyFiles(new SeededRandom(cut));
      const placed = store(files);
      const minimum = placed.find(({ physicalOffset }) => physicalOffset >= logMin)!.queueOffset;
      files.cutAt(files.operations + cut);
      let done = true;
      try {
        remove(files, logMin, minimum);
      } catch (error) {
        assert.ok(error instanceof PowerCut, String(error));
        done = false;
      }
      const left = files.restart('random');
      const recovered = recoverStore({
        files: left,
        paths,
        segments: segmentsOf(left),
        queues: queuesOf(left),
        nowMs: NOW,
        checkCrc: true,
      });
      assert.ok(recovered.minOffset <= logMin && (!done || recovered.minOffset === logMin));
      for (const { topic, minOffset, maxOffset, nextOffset } of recovered.queues) {
        const mine = placed.filter((one) => one.topic === topic);
        const first = mine.find(({ physicalOffset }) => physicalOffset >= recovered.minOffset);
        assert.deepEqual(
          [minOffset, maxOffset, nextOffset],
          [first?.queueOffset ?? mine.length, mine.length, mine.length],
          `${topic} after the cut at ${cut}`,
        );
      }
      assert.equal(recovered.queues.length, 2);
      if (done) return;
    }
  });
});
