import assert from 'node:assert/strict';
import { ArrivalRing } from '../../../kernel/ring/arrivals.js';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { SysFlag } from '../../../protocol/codes.js';
import { readCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { UNIT_BYTES } from '../../../store/consumequeue/unit.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { LogServices, runToRest, type LogServicesOptions, type Settled } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

const FIXED = 92;

/** A queue as a reader finds it on the files: physical offset, size and tags code of each unit. */
function unitsOf(store: LogServices, topic: string, queueId: number, from = 0, count = 10_000): bigint[][] {
  const { files, temporaryDir } = store.log;
  const queues = new QueueFiles({ files, dir: store.queueDir, temporaryDir, fileBytes: 200, openMax: 8, mode: 'read' });
  const end = store.table.get(store.table.find(topic, queueId), QueueWord.dispatched);
  const units = queues.read(topic, queueId, from, Math.min(count, end - from));
  queues.close();
  const found: bigint[][] = [];
  for (let at = 0; at < units.length; at += UNIT_BYTES)
    found.push([units.readBigInt64BE(at), BigInt(units.readInt32BE(at + 8)), units.readBigInt64BE(at + 12)]);
  return found;
}

function onMemory(options: Partial<LogServicesOptions> = {}): LogServices {
  return new LogServices({ files: new MemoryFiles(256 << 20), segmentBytes: 1 << 20, ...options });
}

function arrivedRows(store: LogServices): number[] {
  const rows: number[] = [];
  new ArrivalRing(store.arrivals).drain(
    (row) => void rows.push(row),
    () => assert.fail('nothing overflowed'),
  );
  return rows;
}

describe('dispatcher', () => {
  it('builds the units that 4.9 builds: offset, size, tag hash', () => {
    const store = onMemory();
    const appender = store.appender();
    store.put({ properties: 'TAGS\u0001TagA\u0002KEYS\u0001k' });
    store.put({ properties: '' });
    store.put({ properties: 'TAGS\u0001标签' });
    store.put({ queueId: 1, properties: 'TAGS\u0001x' });
    const placed = store.append(appender);
    const dispatcher = store.dispatcher();
    runToRest(dispatcher);
    const size = (text: string): bigint => BigInt(FIXED - 1 + 4 + 1 + Buffer.byteLength(text));
    // Hashes by hand: "TagA" = ((84·31+97)·31+103)·31+65; "标签" = 26631·31+31614; "x" = 120.
    assert.deepEqual(unitsOf(store, 'T', 0), [
      [BigInt(placed[0].physicalOffset), size('TAGS_TagA_KEYS_k'), 2_598_919n],
      [BigInt(placed[1].physicalOffset), size(''), 0n],
      [BigInt(placed[2].physicalOffset), size('TAGS_标签'), 857_175n],
    ]);
    assert.deepEqual(unitsOf(store, 'T', 1), [[BigInt(placed[3].physicalOffset), size('TAGS_x'), 120n]]);
    assert.equal(store.mark(Watermark.dispatched), store.mark(Watermark.appended));
    store.close();
  });

  it('keeps the due time of a delayed message in place of its tag hash', () => {
    const store = onMemory();
    store.put({ topic: 'SCHEDULE_TOPIC_XXXX', queueId: 1, properties: 'DELAY\u00012\u0002TAGS\u0001a' });
    store.append(store.appender());
    runToRest(store.dispatcher());
    assert.equal(unitsOf(store, 'SCHEDULE_TOPIC_XXXX', 1)[0][2], BigInt(store.clock.wallMs() + 5000));
    store.close();
  });

  it('writes a queue once per chunk, however many of its records the chunk holds', () => {
    const store = new LogServices({ files: new LossyFiles(), segmentBytes: 1 << 20, queueFileBytes: 20_000 });
    const disk = store.log.files as LossyFiles;
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    const putAll = (): void => {
      for (let i = 0; i < 30; i++) store.put({ queueId: i % 2 });
      store.append(appender);
    };
    putAll();
    runToRest(dispatcher);
    putAll();
    arrivedRows(store);
    store.fallAsleep('network');
    const before = disk.operations;
    runToRest(dispatcher);
    assert.equal(disk.operations - before, 2);
    assert.deepEqual(arrivedRows(store), [0, 1]);
    assert.equal(store.rings('network'), 1);
    store.close();
  });

  it('leaves out prepared and rolled-back transactions', () => {
    const store = onMemory();
    for (const sysFlag of [SysFlag.TRANSACTION_PREPARED, 0, SysFlag.TRANSACTION_ROLLBACK, SysFlag.TRANSACTION_COMMIT])
      store.put({ sysFlag });
    const placed = store.append(store.appender());
    runToRest(store.dispatcher());
    assert.deepEqual(
      unitsOf(store, 'T', 0).map(([at]) => Number(at)),
      [placed[1].physicalOffset, placed[3].physicalOffset],
    );
    store.close();
  });

  it('shows nothing that is not flushed under SYNC_FLUSH (B02)', () => {
    const store = onMemory();
    const appender = store.appender();
    const flusher = store.flusher({ sync: true });
    const dispatcher = store.dispatcher({ visibleWhenFlushed: true });
    store.put({});
    store.append(appender);
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.dispatched), 0);
    assert.equal(store.table.get(0, QueueWord.dispatched), 0);
    assert.deepEqual(arrivedRows(store), []);
    runToRest(flusher);
    store.put({});
    store.append(appender);
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.dispatched), store.mark(Watermark.flushed));
    assert.equal(store.table.get(0, QueueWord.dispatched), 1);
    store.close();
  });

  it('follows the log over fillers and segments', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    const placed: Settled[] = [];
    for (let i = 0; i < 40; i++) {
      store.put({ body: Buffer.alloc(500 + (i % 9) * 100) });
      placed.push(...store.append(appender));
      if (i % 5 === 0) runToRest(dispatcher);
    }
    runToRest(dispatcher);
    assert.ok(store.log.files.list(store.log.dir).length > 8);
    assert.deepEqual(
      unitsOf(store, 'T', 0).map(([at]) => Number(at)),
      placed.map(({ physicalOffset }) => physicalOffset),
    );
    store.close();
  });

  it('reads records that lie over the borders of its chunks, and records larger than a chunk', () => {
    const store = onMemory({ segmentBytes: 16 << 20, ringBytes: 8 << 20 });
    const appender = store.appender();
    const sizes = [1_000_000, 100_000, 3_500_000, 92, 65_536, 1 << 20, (1 << 20) - 1, 400_000, 2_000_000, 92, 92];
    const placed: Settled[] = [];
    for (const [i, size] of sizes.entries()) {
      store.put({ body: Buffer.alloc(size - FIXED, i) });
      placed.push(...store.append(appender));
    }
    runToRest(store.dispatcher());
    assert.deepEqual(
      unitsOf(store, 'T', 0),
      sizes.map((size, i) => [BigInt(placed[i].physicalOffset), BigInt(size), 0n]),
    );
    store.close();
  });

  it('changes nothing when it dispatches again', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    for (let i = 0; i < 50; i++) {
      store.put({ queueId: i % 3, properties: `TAGS\u0001${i}` });
      store.append(appender);
    }
    runToRest(store.dispatcher());
    const all = (): bigint[][][] => [0, 1, 2].map((queueId) => unitsOf(store, 'T', queueId));
    const before = all();
    assert.equal(before.flat().length, 50);
    store.watermarks.reset(Watermark.dispatched, 0);
    runToRest(store.dispatcher());
    assert.deepEqual(all(), before);
    store.close();
  });

  it('skips a record whose topic is no name, and what has no row, with one line each (B32)', () => {
    const store = onMemory();
    const appender = store.appender();
    store.put({});
    // As a log of another broker may hold it: the ring refuses such a topic long before.
    store.put({ topic: '../../x', queueId: 0 });
    store.put({});
    store.append(appender);
    runToRest(store.dispatcher());
    assert.equal(unitsOf(store, 'T', 0).length, 2);
    assert.deepEqual(store.log.files.list(store.queueDir), ['T']);
    const skipped = store.logger.lines.filter(({ message }) => message === 'a record of the log gets no queue entry');
    assert.deepEqual(
      skipped.map(({ fields }) => fields['problem']),
      ['the topic is not a valid name'],
    );
    store.close();
  });

  it('passes over what is no record up to the next segment, and says where', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    for (let i = 0; i < 3; i++) store.put({ body: Buffer.alloc(1908) });
    const [, damaged, next] = store.append(appender);
    assert.equal(next.physicalOffset, 4096);
    const segment = store.log.files.open(`${store.log.dir}/00000000000000000000`, 'readWrite');
    segment.write(Buffer.alloc(100), 0, 100, damaged.physicalOffset);
    runToRest(store.dispatcher());
    assert.deepEqual(
      unitsOf(store, 'T', 0).map(([at]) => Number(at)),
      [0, 0, 4096],
      'its unit stays blank',
    );
    assert.deepEqual(
      store.logger.lines.map(({ fields }) => fields['physicalOffset']),
      [damaged.physicalOffset],
    );
    assert.equal(store.mark(Watermark.dispatched), store.mark(Watermark.appended));
    store.close();
  });

  it('waits, and says once why, when the log ends within a record', () => {
    const store = onMemory();
    const appender = store.appender();
    store.put({ body: Buffer.alloc(1000) });
    store.append(appender);
    const end = store.mark(Watermark.appended);
    store.watermarks.reset(Watermark.appended, end - 10);
    const dispatcher = store.dispatcher();
    assert.equal(dispatcher.step(), 200);
    assert.equal(dispatcher.step(), 200);
    assert.deepEqual(
      store.logger.lines.map(({ fields }) => fields['error']),
      ['the log ends inside a record at offset 0'],
    );
    store.watermarks.advance(Watermark.appended, end);
    runToRest(dispatcher);
    assert.equal(unitsOf(store, 'T', 0).length, 1);
    store.close();
  });

  it('rests between looks while the log grows and nobody waits, and not when a pull does', () => {
    const store = onMemory();
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    dispatcher.step();
    assert.equal(dispatcher.restMs, 0, 'nothing grows');
    store.put({});
    store.append(appender);
    runToRest(dispatcher);
    assert.ok(dispatcher.restMs > 0);
    new ArrivalRing(store.arrivals).setWanted(true);
    assert.equal(dispatcher.restMs, 0);
    store.close();
  });
});

describe('dispatcher on a disk that fails', () => {
  it('tries a chunk again when a queue cannot be written, and then has all of it', () => {
    const disk = new LossyFiles();
    const store = new LogServices({ files: disk, segmentBytes: 1 << 20 });
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    for (let i = 0; i < 12; i++) store.put({ queueId: i % 3 });
    const placed = store.append(appender);
    disk.fail({ operation: 'write', path: 'consumequeue/T/1', code: 'ENOSPC' });
    assert.equal(dispatcher.step(), 200);
    assert.equal(store.mark(Watermark.dispatched), 0);
    assert.equal(store.table.get(store.table.find('T', 1), QueueWord.dispatched), 0, 'nothing of it is visible');
    runToRest(dispatcher);
    for (const queueId of [0, 1, 2])
      assert.deepEqual(
        unitsOf(store, 'T', queueId).map(([at]) => Number(at)),
        placed.filter((_, i) => i % 3 === queueId).map(({ physicalOffset }) => physicalOffset),
      );
    assert.equal(store.mark(Watermark.dispatched), store.mark(Watermark.appended));
    assert.equal(store.logger.lines.length, 1);
    store.close();
  });

  it('writes the checkpoint behind the sync, once an interval, and not after a sync that failed', async () => {
    const disk = new LossyFiles();
    const store = new LogServices({ files: disk, segmentBytes: 1 << 20 });
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    const storedAt = store.clock.wallMs();
    store.put({});
    store.append(appender);
    runToRest(dispatcher);
    assert.equal(disk.exists(store.checkpointPath), false);
    store.clock.advance(1000);
    runToRest(dispatcher);
    assert.equal(readCheckpoint(disk, store.checkpointPath).logicsMsgTimestamp, storedAt);

    disk.fail({ operation: 'sync', path: 'consumequeue', code: 'EIO' });
    for (let i = 0; i < 3; i++) {
      store.put({});
      store.append(appender);
      store.clock.advance(1000);
      runToRest(dispatcher);
      await assert.rejects(dispatcher.calls.syncNow(), { code: 'QUEUES_NOT_SYNCED' });
    }
    assert.equal(readCheckpoint(disk, store.checkpointPath).logicsMsgTimestamp, storedAt);
    assert.equal(store.logger.lines.length, 1);
    store.close();
  });

  it('goes on where the one before it died', () => {
    const store = onMemory();
    const appender = store.appender();
    for (let i = 0; i < 10; i++) store.put({});
    store.append(appender);
    store.dispatcher().step();
    for (let i = 0; i < 10; i++) store.put({});
    store.append(appender);
    runToRest(store.dispatcher());
    assert.equal(unitsOf(store, 'T', 0).length, 20);
    store.close();
  });
});

describe('dispatcher and deleted topics', () => {
  it('removes the files of a topic, and dispatches nothing of it that was stored before', async () => {
    const store = onMemory();
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    const putBoth = (): void => {
      store.put({ topic: 'gone' });
      store.put({ topic: 'stays' });
      store.append(appender);
    };
    putBoth();
    runToRest(dispatcher);
    putBoth();
    await dispatcher.calls.deleteTopic('gone', store.mark(Watermark.appended));
    assert.deepEqual(store.log.files.list(store.queueDir), ['stays']);
    runToRest(dispatcher);
    assert.deepEqual(store.log.files.list(store.queueDir), ['stays']);
    assert.equal(unitsOf(store, 'stays', 0).length, 2);

    store.table.renew('gone', 0);
    store.put({ topic: 'gone' });
    const [{ queueOffset, physicalOffset }] = store.append(appender);
    runToRest(dispatcher);
    assert.equal(queueOffset, 0, 'it counts from the beginning');
    assert.deepEqual(
      unitsOf(store, 'gone', 0).map(([at]) => Number(at)),
      [physicalOffset],
    );
    store.close();
  });
});
