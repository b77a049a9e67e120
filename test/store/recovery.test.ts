import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  markEnded,
  markRunning,
  readCheckpoint,
  wasAborted,
  writeCheckpoint,
} from '../../store/checkpoint/checkpoint.js';
import { truncateTail } from '../../store/commitlog/recovery.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { MemoryFiles } from '../../store/files/memory-files.js';
import { segmentName, storePaths } from '../../store/files/paths.js';
import { type RecoveredStore, recoverStore } from '../../store/recovery.js';
import { dispatchLog } from '../support/dispatch-log.js';
import { LogBuilder } from '../support/log-builder.js';

const paths = storePaths('/s');
const NOW = 1_700_000_100_000;
const SEGMENT = 4096;
const segmentsOf = (files: StoreFiles): Segments => new Segments(files, paths.commitLog, paths.temporary, SEGMENT);
const queuesOf = (files: StoreFiles): QueueFiles =>
  new QueueFiles({
    files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: 200,
    openMax: 8,
    mode: 'readWrite',
  });

const recover = (files: StoreFiles, truncateDamaged = false): RecoveredStore => {
  const [segments, queues] = [segmentsOf(files), queuesOf(files)];
  return recoverStore({ files, paths, segments, queues, nowMs: NOW, checkCrc: true, truncateDamaged });
};

/** Forty messages to three queues, the first 100 ms apart, dispatched and cleanly ended. */
function sound(): { files: MemoryFiles; log: LogBuilder } {
  const files = new MemoryFiles(1 << 26);
  const segments = segmentsOf(files);
  segments.open();
  const log = new LogBuilder(segments);
  for (let index = 0; index < 40; index += 1) {
    log.append({
      topic: index % 4 === 3 ? 'U' : 'T',
      queueId: index % 4 === 3 ? 0 : index % 2,
      body: Buffer.alloc(400, index),
      storeTimestamp: NOW - 10_000 + index * 100,
    });
  }
  dispatchLog(segments, queuesOf(files), 0);
  const end = NOW - 10_000 + 3900;
  writeCheckpoint(files, paths.checkpoint, { physicMsgTimestamp: end, logicsMsgTimestamp: end, indexMsgTimestamp: 0 });
  return { files, log };
}

const ends = (result: RecoveredStore): Record<string, [number, number, number]> =>
  Object.fromEntries(
    result.queues.map((queue) => [
      `${queue.topic}/${queue.queueId}`,
      [queue.minOffset, queue.maxOffset, queue.nextOffset],
    ]),
  );

/** Dispatches as the next run does, then the queue files must be those of a fresh build. */
function assertRebuilt(files: StoreFiles, result: RecoveredStore): void {
  const segments = segmentsOf(files);
  segments.open('read');
  dispatchLog(segments, queuesOf(files), result.dispatchFrom);
  const fresh = new QueueFiles({
    files,
    dir: '/fresh',
    temporaryDir: paths.temporary,
    fileBytes: 200,
    openMax: 8,
    mode: 'readWrite',
  });
  dispatchLog(segments, fresh, segments.minOffset);
  const ours = queuesOf(files);
  assert.deepEqual(ours.list().queues, fresh.list().queues);
  for (const { topic, queueId } of fresh.list().queues) {
    const { minOffset, maxOffset } = fresh.bounds(topic, queueId);
    assert.deepEqual(ours.bounds(topic, queueId).maxOffset, maxOffset);
    const count = maxOffset - minOffset;
    assert.ok(ours.read(topic, queueId, minOffset, count).equals(fresh.read(topic, queueId, minOffset, count)));
    const found = result.queues.find((queue) => queue.topic === topic && queue.queueId === queueId);
    assert.equal(found?.nextOffset, maxOffset, `${topic}/${queueId}: next offset`);
  }
  files.removeTree('/fresh');
}

describe('recoverStore', () => {
  it('finds nothing to do in an empty folder', () => {
    const result = recover(new MemoryFiles(1 << 20));
    assert.deepEqual([result.normalExit, result.validEnd, result.dispatchFrom, result.queues], [true, 0, 0, []]);
  });

  it('tells how far it is, up to the end', () => {
    const { files } = sound();
    const [segments, queues] = [segmentsOf(files), queuesOf(files)];
    const told: [number, number][] = [];
    const onProgress = (done: number, total: number): number => told.push([done, total]);
    recoverStore({ files, paths, segments, queues, nowMs: NOW, checkCrc: true, onProgress });
    assert.ok(told.length >= 2);
    assert.ok(told.every(([done, total], index) => total === told[0]![1] && done >= (told[index - 1]?.[0] ?? 0)));
    assert.equal(told.at(-1)![0], told[0]![1]);
  });

  it('dispatches nothing again after a normal end', () => {
    const { files, log } = sound();
    const result = recover(files);
    assert.deepEqual([result.normalExit, result.validEnd, result.dispatchFrom], [true, log.position, log.position]);
    assert.deepEqual(ends(result), { 'T/0': [0, 20, 20], 'T/1': [0, 10, 10], 'U/0': [0, 10, 10] });
    assert.deepEqual([result.notes, result.firstDamage], [[], undefined]);
    assert.equal(wasAborted(files, paths.abort), false);
    assertRebuilt(files, result);
  });

  it('dispatches again from the checkpoint after a crash', () => {
    const { files, log } = sound();
    markRunning(files, paths.abort);
    const at = NOW - 10_000 + 2000 + 3000;
    writeCheckpoint(files, paths.checkpoint, { physicMsgTimestamp: at, logicsMsgTimestamp: at, indexMsgTimestamp: 0 });
    const result = recover(files);
    assert.equal(result.normalExit, false);
    assert.equal(result.validEnd, log.position);
    assert.equal(result.dispatchFrom, result.scannedFrom);
    const first = log.placed.find((placed) => placed.physicalOffset === result.dispatchFrom);
    assert.ok(first !== undefined && log.placed.indexOf(first) <= 20 && log.placed.indexOf(first) > 10);
    assertRebuilt(files, result);
  });

  it('builds all queues when there is none, also after a normal end', () => {
    const { files } = sound();
    files.removeTree(paths.consumeQueue);
    const result = recover(files);
    assert.deepEqual([result.normalExit, result.dispatchFrom], [true, 0]);
    assertRebuilt(files, result);
  });

  it('forgets units beyond the log that a power cut left before files of zeros, for good', () => {
    const { files, log } = sound();
    markRunning(files, paths.abort);
    const segments = segmentsOf(files);
    segments.open('readWrite');
    const lost = log.placed.filter(({ topic, queueId }) => topic === 'T' && queueId === 0)[4]?.physicalOffset ?? 0;
    truncateTail(segments, lost);
    const dir = join(paths.consumeQueue, 'T', '0');
    for (const base of [200, 400, 600, 800]) files.replace(join(dir, segmentName(base)), Buffer.alloc(200), false);
    const result = recover(files);
    assert.equal(result.validEnd, lost);
    assert.deepEqual(files.list(dir), [segmentName(0)]);
    assertRebuilt(files, result);
    markEnded(files, paths.abort);
    const again = recover(files);
    assert.deepEqual(ends(again)['T/0'], [0, 4, 4]);
    assert.equal(again.dispatchFrom, lost);
  });

  it('knows the next offsets of queues whose units were lost', () => {
    const { files, log } = sound();
    markRunning(files, paths.abort);
    files.removeTree(paths.consumeQueue);
    files.remove(paths.checkpoint);
    const result = recover(files);
    assert.equal(result.dispatchFrom, 0);
    assert.equal(result.validEnd, log.position);
    assert.deepEqual(ends(result), { 'T/0': [0, 0, 20], 'T/1': [0, 0, 10], 'U/0': [0, 0, 10] });
    assertRebuilt(files, result);
  });

  it('cuts the tail behind a damaged record, the units with it, and reuses the queue offsets', () => {
    const { files, log } = sound();
    const victim = log.placed[33]!;
    const segment = files.open(
      `${paths.commitLog}/${segmentName(victim.physicalOffset - (victim.physicalOffset % SEGMENT))}`,
      'readWrite',
    );
    segment.write(Buffer.from([1]), 0, 1, (victim.physicalOffset % SEGMENT) + 100);
    assert.throws(() => recover(files), { code: 'LOG_DAMAGED' });
    const result = recover(files, true);
    assert.equal(result.validEnd, victim.physicalOffset);
    const { physicMsgTimestamp } = readCheckpoint(files, paths.checkpoint);
    assert.equal(physicMsgTimestamp, NOW - 10_000 + 3200, 'nothing newer is there any more');
    assert.match(result.firstDamage ?? '', /body checksum/);
    assertRebuilt(files, result);
    assert.equal(ends(result)[`${victim.topic}/${victim.queueId}`]?.[2], victim.queueOffset);
  });

  it('rebuilds a hole of a queue even after a normal end, from where it begins', () => {
    const { files, log } = sound();
    files.open(`${paths.consumeQueue}/T/0/${segmentName(0)}`, 'readWrite').write(Buffer.alloc(60), 0, 60, 100);
    const result = recover(files);
    const lost = log.placed.find((placed) => placed.topic === 'T' && placed.queueId === 0 && placed.queueOffset === 5)!;
    assert.ok(result.dispatchFrom <= lost.physicalOffset);
    assert.ok(result.dispatchFrom > 0);
    assert.match(result.notes.join(), /T\/0 has a hole at offset 5/);
    assert.equal(wasAborted(files, paths.abort), true, 'a crash before it is rebuilt must be noticed');
    assert.ok(readCheckpoint(files, paths.checkpoint).logicsMsgTimestamp <= NOW - 10_000 + 900);
    assertRebuilt(files, result);
  });

  it('rebuilds a queue of the wrong size from the log, again when the first rebuild was interrupted (B04)', () => {
    const { files } = sound();
    files.open(`${paths.consumeQueue}/T/0/${segmentName(200)}`, 'readWrite').truncate(199);
    const first = recover(files);
    assert.equal(first.dispatchFrom, 0);
    // Nothing of it was dispatched when the machine stopped.
    const second = recover(files);
    assert.equal(second.normalExit, false);
    assert.equal(second.dispatchFrom, 0);
    assertRebuilt(files, second);
  });

  it('dispatches the units that are missing at the end of one queue after a normal end', () => {
    const { files } = sound();
    const last = `${paths.consumeQueue}/T/0/${segmentName(200)}`;
    files.open(last, 'readWrite').write(Buffer.alloc(60), 0, 60, 140);
    const result = recover(files);
    assert.deepEqual(ends(result)['T/0'], [0, 17, 20]);
    assertRebuilt(files, result);
  });

  it('does not bring back the queues of a deleted topic after a normal end', () => {
    const { files, log } = sound();
    queuesOf(files).remove('U');
    const result = recover(files);
    assert.equal(result.dispatchFrom, log.position);
    assert.deepEqual(Object.keys(ends(result)), ['T/0', 'T/1']);
  });

  it('takes the later offsets of a topic that was deleted and made anew', () => {
    const { files, log } = sound();
    const queues = queuesOf(files);
    queues.remove('U');
    log.setNext('U', 0, 0);
    const from = log.position;
    log.append({ topic: 'U', storeTimestamp: NOW - 5000 });
    dispatchLog(log.segments, queues, from);
    const result = recover(files);
    assert.equal(result.dispatchFrom, log.position);
    assert.deepEqual(ends(result)['U/0'], [0, 1, 1]);
  });

  it('gives each queue the first offset whose record is still there', () => {
    const { files, log } = sound();
    log.segments.dropBelow(3 * SEGMENT);
    const result = recover(files);
    assert.equal(result.minOffset, 3 * SEGMENT);
    for (const queue of result.queues) {
      const first = log.placed.find(
        (placed) =>
          placed.topic === queue.topic && placed.queueId === queue.queueId && placed.physicalOffset >= 3 * SEGMENT,
      );
      assert.equal(queue.minOffset, first?.queueOffset);
    }
  });

  it('keeps the place of a queue of which the log has nothing left, in whichever of its files that is (B16)', () => {
    const { files, log } = sound();
    const from = log.position;
    for (let index = 0; index < 40; index += 1)
      log.append({ topic: 'U', body: Buffer.alloc(400), storeTimestamp: NOW - 6000 });
    dispatchLog(log.segments, queuesOf(files), from);
    const [max0, max1] = ['T/0', 'T/1'].map((key) => ends(recover(files))[key]?.[1] ?? 0);
    const gone = from - (from % SEGMENT) + SEGMENT;
    log.segments.dropBelow(gone);
    const recovered = ends(recover(files));
    assert.deepEqual(
      [recovered['T/0'], recovered['T/1']],
      [
        [max0, max0, max0],
        [max1, max1, max1],
      ],
    );
    const queues = queuesOf(files);
    assert.ok(queues.bases('T', 0).length > 1);
    queues.dropBelow('T', 0, max0);
    assert.equal(queues.bases('T', 0).length, 1);
    assert.deepEqual(ends(recover(files)), recovered, 'also without its older files');
  });

  it('removes the queues when there is no log', () => {
    const { files } = sound();
    files.removeTree(paths.commitLog);
    const result = recover(files);
    assert.deepEqual([result.validEnd, result.queues], [0, []]);
    assert.deepEqual(files.list(paths.consumeQueue), []);
    assert.match(result.notes.join(), /no commit log/);
  });

  it('removes what was under construction', () => {
    const { files } = sound();
    files.replace(`${paths.temporary}/00000000000000000000.77-0-1`, 'half', false);
    recover(files);
    assert.deepEqual(files.list(paths.temporary), []);
  });

  it('refuses a log of the wrong size and changes nothing', () => {
    const { files } = sound();
    files.open(`${paths.commitLog}/${segmentName(0)}`, 'readWrite').truncate(SEGMENT - 1);
    files.replace(`${paths.temporary}/x`, '', false);
    assert.throws(() => recover(files), { code: 'SEGMENT_SIZE' });
    assert.deepEqual(files.list(paths.temporary), ['x']);
  });
});
