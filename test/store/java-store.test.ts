import assert from 'node:assert/strict';
import { readCheckpoint, wasAborted } from '../../store/checkpoint/checkpoint.js';
import { firstStoreTimestamp, recoverLog } from '../../store/commitlog/recovery.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { offsetByTime } from '../../store/consumequeue/search.js';
import { unitPhysicalOffset } from '../../store/consumequeue/unit.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import type { MemoryFiles } from '../../store/files/memory-files.js';
import { storePaths } from '../../store/files/paths.js';
import { recoverStore } from '../../store/recovery.js';
import { dispatchLog } from '../support/dispatch-log.js';
import { javaBytes, javaFiles, type JavaState, javaStore } from '../support/java-store.js';

const golden = javaStore();
const levels = parseDelayLevels(golden.delayLevels);
const isLog = (path: string): boolean => path.startsWith('commitlog/');
const isHeadlessLog = (path: string): boolean => isLog(path) && !path.endsWith('00000000000000000000');

const segmentsOf = (files: MemoryFiles): Segments =>
  new Segments(files, '/s/commitlog', '/s/.tmp', golden.segmentBytes);
const queuesOf = (files: MemoryFiles, fileBytes = golden.queueFileBytes): QueueFiles =>
  new QueueFiles({ files, dir: '/s/consumequeue', temporaryDir: '/s/.tmp', fileBytes, openMax: 8, mode: 'readWrite' });

function openLog(files: MemoryFiles): Segments {
  const segments = segmentsOf(files);
  segments.open();
  return segments;
}

/** Every queue file that 4.9 wrote, and no other, byte for byte. */
function assertSameQueues(
  files: MemoryFiles,
  expected: Readonly<Record<string, string>>,
  differs: (path: string) => boolean = () => false,
): void {
  const paths = Object.keys(expected).filter((path) => path.startsWith('consumequeue/'));
  assert.ok(paths.length >= 7);
  for (const path of paths) {
    if (differs(path)) continue;
    const bytes = javaBytes(expected[path] ?? '', golden.queueFileBytes);
    assert.equal(files.readAll(`/s/${path}`).toString('hex'), bytes.toString('hex'), path);
  }
  const ours = queuesOf(files);
  const count = ours.list().queues.reduce((sum, { topic, queueId }) => sum + ours.bases(topic, queueId).length, 0);
  assert.equal(count, paths.length);
}

function assertSameState(queues: QueueFiles, state: JavaState): void {
  for (const queue of state.queues) {
    // 4.9 also lists queues that only its own inspection made.
    if (queue.lastPhysical < 0) continue;
    const { topic, queueId } = queue;
    const bounds = queues.bounds(topic, queueId);
    const minOffset = queues.minAbove(topic, queueId, state.minPhysical, bounds);
    assert.deepEqual(
      { min: minOffset, max: bounds.maxOffset, lastPhysical: bounds.lastPhysical },
      { min: queue.min, max: queue.max, lastPhysical: queue.lastPhysical },
      `${topic}/${queueId}`,
    );
  }
}

describe('a store written by RocketMQ 4.9.7', () => {
  it('has a log that is valid to its last byte', () => {
    const segments = openLog(javaFiles(golden, isLog));
    const result = recoverLog({ segments, fromOffset: 0, checkCrc: true, chunkBytes: 1000 });
    assert.deepEqual(result, { validEnd: golden.state.maxPhysical, records: 29, firstDamage: undefined });
  });

  it('gets the same queue files from our dispatching, byte for byte', () => {
    const files = javaFiles(golden, isLog);
    dispatchLog(openLog(files), queuesOf(files), 0, { delayLevels: levels });
    assertSameQueues(files, golden.files);
  });

  it('gets the same queue files when the log does not begin at 0', () => {
    const files = javaFiles(golden, isHeadlessLog);
    const segments = openLog(files);
    assert.equal(segments.minOffset, golden.headless.state.minPhysical);
    const queues = queuesOf(files);
    dispatchLog(segments, queues, segments.minOffset, { delayLevels: levels });
    // 4.9 dispatches again before it has loaded its delay levels: the due times of delayed messages are lost, and they are delivered
    // at once. Ours are those of the first dispatching.
    const isDelayed = (path: string): boolean => path.includes('SCHEDULE_TOPIC_XXXX');
    assertSameQueues(files, golden.headless.queues, isDelayed);
    for (const path of Object.keys(golden.files).filter(isDelayed)) {
      const first = javaBytes(golden.files[path] ?? '', golden.queueFileBytes);
      assert.equal(files.readAll(`/s/${path}`).toString('hex'), first.toString('hex'), path);
    }
    assertSameState(queues, golden.headless.state);
  });

  it('has queues with the bounds that 4.9 sees', () => {
    assertSameState(queuesOf(javaFiles(golden, () => true)), golden.state);
  });

  it('is recovered as it is, with nothing to dispatch', () => {
    const files = javaFiles(golden, () => true);
    const paths = storePaths('/s');
    const segments = segmentsOf(files);
    const before = Object.keys(golden.files)
      .filter(isLog)
      .map((path) => files.readAll(`/s/${path}`).toString('hex'));
    const checkpoint = readCheckpoint(files, paths.checkpoint);
    assert.ok(checkpoint.physicMsgTimestamp >= firstStoreTimestamp(openLog(files), 0));
    const result = recoverStore({ files, paths, segments, queues: queuesOf(files), nowMs: 2 ** 42, checkCrc: true });
    assert.deepEqual(
      [result.normalExit, result.validEnd, result.firstDamage],
      [true, golden.state.maxPhysical, undefined],
    );
    assert.equal(result.dispatchFrom, golden.state.maxPhysical);
    assert.equal(wasAborted(files, paths.abort), false);
    const after = Object.keys(golden.files)
      .filter(isLog)
      .map((path) => files.readAll(`/s/${path}`).toString('hex'));
    assert.deepEqual(after, before);
    assertSameQueues(files, golden.files);
    const ends = new Map(result.queues.map((queue) => [`${queue.topic}/${queue.queueId}`, queue]));
    for (const { topic, queueId, min, max, lastPhysical } of golden.state.queues) {
      if (lastPhysical < 0) continue;
      const found = ends.get(`${topic}/${queueId}`);
      assert.deepEqual([found?.minOffset, found?.maxOffset, found?.nextOffset], [min, max, max]);
    }
  });

  it('is searched by time as 4.9 searches it', async () => {
    const files = javaFiles(golden, isHeadlessLog);
    const segments = openLog(files);
    const queues = queuesOf(files, golden.oneFile.queueFileBytes);
    dispatchLog(segments, queues, segments.minOffset, { delayLevels: levels });
    const times = new Map<number, number>();
    recoverLog({
      segments,
      fromOffset: segments.minOffset,
      checkCrc: false,
      onRecord: (buffer, offset, _size, physicalOffset) => {
        const at = (buffer.readInt32BE(offset + 36) & 16) === 0 ? 56 : 68;
        times.set(physicalOffset, Number(buffer.readBigInt64BE(offset + at)));
      },
    });
    let compared = 0;
    for (const { topic, queueId, min, max, lastPhysical, byTime } of golden.oneFile.state.queues) {
      if (lastPhysical < 0) continue;
      for (const [time, expected] of Object.entries(byTime ?? {})) {
        const search = {
          minOffset: min,
          maxOffset: max,
          fileBytes: golden.oneFile.queueFileBytes,
          storeTimestamp: (queueOffset: number): number =>
            times.get(unitPhysicalOffset(queues.read(topic, queueId, queueOffset, 1), 0)) ?? -1,
        };
        assert.equal(await offsetByTime(search, Number(time)), expected, `${topic}/${queueId} at ${time}`);
        compared += 1;
      }
    }
    assert.ok(compared > 50, `${compared} compared`);
  });
});
