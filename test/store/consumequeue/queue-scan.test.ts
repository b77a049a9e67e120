import assert from 'node:assert/strict';
import { viewOf } from '../../../protocol/copy.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { recoverQueues, type QueueRecovery } from '../../../store/consumequeue/recover-queues.js';
import { firstAtOrAbove, offsetByTime } from '../../../store/consumequeue/search.js';
import { unitSize, writeUnit } from '../../../store/consumequeue/unit.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';

const FILE_BYTES = 200;
const make = (files = new MemoryFiles(1 << 24)): QueueFiles =>
  new QueueFiles({
    files,
    dir: '/s/consumequeue',
    temporaryDir: '/s/.tmp',
    fileBytes: FILE_BYTES,
    openMax: 8,
    mode: 'readWrite',
  });

/** Unit n stands for a record of 100 bytes at 100 n. */
function put(queues: QueueFiles, topic: string, queueId: number, from: number, count: number): void {
  const bytes = Buffer.alloc(count * 20);
  for (let index = 0; index < count; index += 1) writeUnit(viewOf(bytes), index * 20, (from + index) * 100, 100, 0, 0);
  queues.write(topic, queueId, from, bytes, bytes.length);
}

const zero = (queues: QueueFiles, base: number, position: number, length: number): void =>
  queues.files
    .open(`/s/consumequeue/T/0/${String(base).padStart(20, '0')}`, 'readWrite')
    .write(Buffer.alloc(length), 0, length, position);

describe('bounds of a queue', () => {
  it('are where its valid units are', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 7);
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 7, lastPhysical: 700 });
    put(queues, 'T', 0, 7, 3);
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 10, lastPhysical: 1000 });
    put(queues, 'T', 0, 10, 40);
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 50, lastPhysical: 5000 });
    put(queues, 'T', 1, 13, 2);
    assert.deepEqual(queues.bounds('T', 1), { minOffset: 10, maxOffset: 15, lastPhysical: 1500 });
    assert.deepEqual(queues.bounds('T', 2), { minOffset: 0, maxOffset: 0, lastPhysical: -1 });
  });

  it('end at an unwritten unit and at one whose physical offset does not grow', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 25);
    zero(queues, 200, 60, 20);
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 13, lastPhysical: 1300 });
    const other = make();
    put(other, 'T', 0, 0, 5);
    const stale = Buffer.alloc(20);
    writeUnit(viewOf(stale), 0, 200, 100, 0, 0);
    other.write('T', 0, 5, stale, 20);
    assert.equal(other.bounds('T', 0).maxOffset, 5);
  });

  it('end with the file before when the last is still empty', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 10);
    queues.files.createComplete('/s/consumequeue/T/0/00000000000000000200', FILE_BYTES, '/s/.tmp');
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 10, lastPhysical: 1000 });
  });

  it('are not hidden by files in which nothing was written, however many', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 13);
    for (const base of [400, 600, 800, 1000])
      queues.files.createComplete(`/s/consumequeue/T/0/${String(base).padStart(20, '0')}`, FILE_BYTES, '/s/.tmp');
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 13, lastPhysical: 1300 });
    zero(queues, 0, 0, 200);
    zero(queues, 200, 0, 200);
    assert.deepEqual(queues.bounds('T', 0), { minOffset: 0, maxOffset: 0, lastPhysical: -1 });
  });
});

describe('minAbove', () => {
  it('finds the first unit whose record the log still has, in any file', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 35);
    for (const [minPhysical, expected] of [
      [0, 0],
      [1, 1],
      [100, 1],
      [950, 10],
      [2001, 21],
      [3400, 34],
      [3401, 35],
      [9999, 35],
    ] as const)
      assert.equal(queues.minAbove('T', 0, minPhysical), expected, `log begins at ${minPhysical}`);
  });

  it('passes over blank units', () => {
    const queues = make();
    put(queues, 'T', 0, 13, 9);
    assert.equal(queues.minAbove('T', 0, 0), 13);
    assert.equal(queues.minAbove('T', 0, 1500), 15);
    put(queues, 'T', 0, 26, 2);
    assert.equal(queues.minAbove('T', 0, 1500), 15, 'a gap inside');
    assert.equal(queues.minAbove('T', 0, 2150), 26);
  });
});

describe('truncateBeyond', () => {
  it('removes units beyond the log, files included, and leaves no stale bytes', () => {
    for (const end of [0, 1, 700, 1000, 1001, 1999, 2000, 2500, 3400, 3500, 9999]) {
      const queues = make();
      put(queues, 'T', 0, 0, 35);
      const kept = Math.min(35, Math.ceil(end / 100));
      const bounds = queues.truncateBeyond('T', 0, end);
      assert.deepEqual(
        bounds,
        { minOffset: 0, maxOffset: kept, lastPhysical: kept === 0 ? -1 : kept * 100 },
        `end ${end}`,
      );
      assert.deepEqual(queues.bounds('T', 0), bounds);
      const rest = queues.read('T', 0, kept, 100);
      assert.ok(rest.every((byte) => byte === 0));
      assert.ok(queues.bases('T', 0).every((base) => base === 0 || base <= kept * 20));
    }
  });

  it('cuts what stands behind a hole', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 35);
    zero(queues, 200, 100, 40);
    assert.equal(queues.truncateBeyond('T', 0, 99_999).maxOffset, 15);
    assert.deepEqual(queues.bases('T', 0), [0, 200]);
    assert.ok(queues.read('T', 0, 15, 100).every((byte) => byte === 0));
  });

  it('keeps the name of a first file that is emptied: it holds the offset', () => {
    const queues = make();
    put(queues, 'T', 0, 20, 25);
    assert.deepEqual(queues.truncateBeyond('T', 0, 1000), { minOffset: 20, maxOffset: 20, lastPhysical: -1 });
    assert.deepEqual(queues.bases('T', 0), [400]);
  });
});

describe('recoverQueues', () => {
  const recover = (
    queues: QueueFiles,
    physicalEnd: number,
    physicalMin = 0,
  ): QueueRecovery & { rebuilds: number[] } => {
    const rebuilds: number[] = [];
    const recovery = recoverQueues({
      queues,
      physicalMin,
      physicalEnd,
      beforeRebuild: (offset) => void rebuilds.push(offset),
    });
    return { ...recovery, rebuilds };
  };

  it('cuts what lies beyond the log and needs no rebuilding for that', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 35);
    put(queues, 'U', 3, 0, 4);
    const result = recover(queues, 2000);
    assert.deepEqual(result.queues, [
      { topic: 'T', queueId: 0, minOffset: 0, maxOffset: 20, lastPhysical: 2000 },
      { topic: 'U', queueId: 3, minOffset: 0, maxOffset: 4, lastPhysical: 400 },
    ]);
    assert.deepEqual(
      [result.maxPhysical, result.rebuildFrom, result.notes, result.rebuilds],
      [2000, undefined, [], []],
    );
  });

  it('rebuilds from a hole on', () => {
    const queues = make();
    put(queues, 'T', 0, 0, 35);
    put(queues, 'U', 0, 0, 5);
    zero(queues, 400, 0, 60);
    const result = recover(queues, 3500);
    assert.deepEqual(result.queues[0], { topic: 'T', queueId: 0, minOffset: 0, maxOffset: 20, lastPhysical: 2000 });
    assert.deepEqual([result.rebuildFrom, result.rebuilds], [2000, [2000]]);
    assert.match(result.notes.join(), /T\/0 has a hole at offset 20/);
  });

  it('removes a queue with a damaged file and rebuilds it from the log (B04)', () => {
    for (const damage of ['truncate', 'missing', 'extra'] as const) {
      const files = new MemoryFiles(1 << 24);
      const queues = make(files);
      put(queues, 'T', 0, 0, 35);
      put(queues, 'U', 0, 0, 5);
      const path = '/s/consumequeue/T/0/00000000000000000200';
      if (damage === 'truncate') files.open(path, 'readWrite').truncate(FILE_BYTES - 1);
      else if (damage === 'missing') files.remove(path);
      else files.createComplete('/s/consumequeue/T/0/00000000000000000650', FILE_BYTES, '/s/.tmp');
      let seen = -1;
      const result = recoverQueues({
        queues,
        physicalMin: 300,
        physicalEnd: 3500,
        beforeRebuild: (offset) => {
          seen = offset;
          assert.ok(files.exists('/s/consumequeue/T/0'), 'nothing is removed before it is noted');
        },
      });
      assert.deepEqual([seen, result.rebuildFrom], [300, 300]);
      assert.equal(files.exists('/s/consumequeue/T/0'), false);
      assert.deepEqual(result.queues[0], { topic: 'T', queueId: 0, minOffset: 0, maxOffset: 0, lastPhysical: -1 });
      assert.match(result.notes.join(), /T\/0 is removed and built again/);
      put(queues, 'T', 0, 3, 32);
      assert.equal(queues.minAbove('T', 0, 300), 3);
    }
  });

  it('drops an empty last file, and has built again what it may have held', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 10);
    files.replace('/s/consumequeue/T/0/00000000000000000200', '', false);
    const result = recover(queues, 1000);
    assert.deepEqual([result.rebuildFrom, result.queues[0]?.maxOffset], [1000, 10]);
    assert.deepEqual(queues.bases('T', 0), [0]);
    put(queues, 'T', 0, 10, 1);
    assert.equal(unitSize(queues.read('T', 0, 10, 1), 0), 100);
  });
});

describe('searching', () => {
  it('finds the first at or above', () => {
    const values = [-1, -1, 5, 5, 7, -1, 9, 12];
    const find = (wanted: number): number => firstAtOrAbove((offset) => values[offset] ?? 99, 0, values.length, wanted);
    assert.deepEqual([0, 5, 6, 7, 8, 9, 10, 12, 13].map(find), [2, 2, 4, 4, 6, 6, 7, 7, 8]);
    assert.equal(
      firstAtOrAbove(() => 1, 4, 4, 0),
      4,
    );
  });

  it('finds offsets by time over several files', async () => {
    const times = Array.from({ length: 35 }, (_, index) => 1000 + index * 10);
    const search = (minOffset: number, maxOffset: number, timestamp: number): Promise<number> =>
      offsetByTime(
        { minOffset, maxOffset, fileBytes: FILE_BYTES, storeTimestamp: (offset) => times[offset] ?? -1 },
        timestamp,
      );
    for (let offset = 0; offset < 35; offset += 1) {
      assert.equal(await search(0, 35, 1000 + offset * 10), offset);
      assert.equal(await search(0, 35, 1000 + offset * 10 - 4), offset, 'nearest after');
    }
    assert.equal(await search(0, 35, 0), 0);
    assert.equal(await search(13, 35, 0), 13);
    assert.equal(await search(13, 35, 99_999), 34);
    assert.equal(await search(13, 13, 1130), 13);
    assert.equal(await search(34, 40, 99_999), 0, 'a store time that cannot be read');
  });
});
