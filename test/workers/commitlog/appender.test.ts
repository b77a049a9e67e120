import assert from 'node:assert/strict';
import { SlotStatus } from '../../../kernel/ring/slots.js';
import { Fault, Watermark } from '../../../kernel/ring/watermarks.js';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { SysFlag } from '../../../protocol/codes.js';
import { BLANK_MAGIC, decodeRecord } from '../../../protocol/message/record.js';
import { checkRecord } from '../../../store/commitlog/record-scan.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { readySegmentPath } from '../../../store/files/paths.js';
import { LogServices, type LogServicesOptions } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { testRecord } from '../../support/records.js';
import { SeededRandom } from '../../support/seeded-random.js';

/** A record of topic T without properties. */
const FIXED = 92;

function bodyFor(recordBytes: number): Buffer {
  return Buffer.alloc(recordBytes - FIXED, 0x62);
}

function onMemory(options: Partial<LogServicesOptions> = {}): LogServices {
  return new LogServices({ files: new MemoryFiles(64 << 20), ...options });
}

/** A failing write gets always equally far. */
class SteadyRandom extends SeededRandom {
  constructor(private readonly part: number) {
    super(0);
  }

  override next(): number {
    return this.part;
  }
}

function onLossy(
  options: Partial<LogServicesOptions> = {},
  random = new SeededRandom(1),
): LogServices & { readonly disk: LossyFiles } {
  const disk = new LossyFiles(random);
  return Object.assign(new LogServices({ files: disk, ...options }), { disk });
}

describe('appender', () => {
  it('moves a segment in that was made ahead, and makes its own when there is none', () => {
    const store = onMemory();
    const { files, temporaryDir, segmentBytes, dir } = store.log;
    const appender = store.appender();
    const fill = (): void => {
      store.put({ body: bodyFor(segmentBytes - 8) });
      assert.deepEqual(
        store.append(appender).map(({ status }) => status),
        [SlotStatus.stored],
      );
    };
    fill();
    files.makeAhead(readySegmentPath(temporaryDir, segmentBytes), segmentBytes, 0);
    store.watermarks.advance(Watermark.ready, segmentBytes);
    fill();
    assert.deepEqual(files.list(temporaryDir), []);
    store.watermarks.advance(Watermark.ready, 2 * segmentBytes);
    fill();
    assert.deepEqual(
      files.list(dir).map((name) => [Number(name), files.sizeOf(`${dir}/${name}`)]),
      [0, 1, 2].map((n) => [n * segmentBytes, segmentBytes]),
    );
  });

  it('stamps queue offset, physical offset and store time, and changes nothing else', () => {
    const store = onMemory();
    const appender = store.appender();
    store.clock.stepWall(2 ** 33);
    store.put({ queueId: 3, properties: 'TAGS\u0001a' });
    store.put({ queueId: 3, body: Buffer.from('second') });
    store.put({ queueId: 4 });
    const settled = store.append(appender);
    assert.deepEqual(
      settled.map(({ status, queueOffset }) => [status, queueOffset]),
      [
        [SlotStatus.stored, 0],
        [SlotStatus.stored, 1],
        [SlotStatus.stored, 0],
      ],
    );
    const end = store.mark(Watermark.appended);
    const log = store.logBytes(0, end);
    const first = testRecord({
      queueId: 3,
      properties: 'TAGS\u0001a',
      physicalOffset: 0,
      storeTimestamp: 1_700_000_000_000 + 2 ** 33,
    });
    assert.deepEqual(log.subarray(0, first.length), first);
    for (const { physicalOffset } of settled)
      assert.equal(checkRecord(log, physicalOffset, physicalOffset, { crc: true }), undefined);
    assert.equal(store.mark(Watermark.appendedTimeMs), 1_700_000_000_000 + 2 ** 33);
    assert.equal(store.table.get(store.table.find('T', 3), QueueWord.next), 2);
    store.close();
  });

  it('rings the producer and those that follow, once per batch', () => {
    const store = onMemory();
    const appender = store.appender();
    for (const bell of ['network', 'flush', 'reput'] as const) store.fallAsleep(bell);
    store.put({}, {});
    store.put({});
    store.append(appender);
    assert.deepEqual([store.rings('network'), store.rings('flush'), store.rings('reput')], [1, 1, 1]);
    assert.ok(appender.step() > 0, 'and rests when there is nothing');
    store.close();
  });

  it('gives prepared and rolled-back transactions no queue offset', () => {
    const store = onMemory();
    const appender = store.appender();
    for (const sysFlag of [
      0,
      SysFlag.TRANSACTION_PREPARED,
      SysFlag.TRANSACTION_ROLLBACK,
      SysFlag.TRANSACTION_COMMIT,
      0,
    ])
      store.put({ sysFlag });
    assert.deepEqual(
      store.append(appender).map(({ queueOffset }) => queueOffset),
      [0, 0, 0, 1, 2],
    );
    store.close();
  });

  it('goes on with the queue offsets that recovery found', () => {
    const store = onMemory();
    store.table.set(store.table.register('T', 0), QueueWord.next, 700);
    store.put({});
    assert.deepEqual(
      store.append(store.appender()).map(({ queueOffset }) => queueOffset),
      [700],
    );
    store.close();
  });

  it('ends a segment with a filler when the next record has no room, and leaves always 8 bytes for it', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    store.put({ body: bodyFor(3000) });
    store.put({ body: bodyFor(1089) });
    store.put({ body: bodyFor(4088) });
    store.put({ body: bodyFor(200) });
    assert.deepEqual(
      store.append(appender).map(({ status, physicalOffset }) => [status, physicalOffset]),
      [
        [SlotStatus.stored, 0],
        // 3000 + 1089 leaves 7 bytes, one too few for a filler.
        [SlotStatus.stored, 4096],
        [SlotStatus.stored, 8192],
        [SlotStatus.stored, 12_288],
      ],
    );
    const filler = store.logBytes(3000, 3008);
    assert.deepEqual([filler.readInt32BE(0), filler.readInt32BE(4)], [1096, BLANK_MAGIC]);
    const least = store.logBytes(8192 + 4088, 12_288);
    assert.deepEqual([least.readInt32BE(0), least.readInt32BE(4)], [8, BLANK_MAGIC]);
    assert.equal(store.mark(Watermark.appended), 12_488);
    store.close();
  });

  it('fills a segment to the byte when 8 bytes are left', () => {
    const store = onMemory({ segmentBytes: 4096 });
    store.put({ body: bodyFor(3000) });
    store.put({ body: bodyFor(1088) });
    assert.deepEqual(
      store.append(store.appender()).map(({ physicalOffset }) => physicalOffset),
      [0, 3000],
    );
    assert.equal(store.mark(Watermark.appended), 4088);
    store.close();
  });

  it('never splits a batch over two segments', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    store.put({ body: bodyFor(2000) });
    store.put({ body: bodyFor(1000) }, { body: bodyFor(1000) }, { body: bodyFor(1000) });
    const [, batch] = store.append(appender);
    assert.deepEqual(batch, { status: SlotStatus.stored, queueOffset: 1, physicalOffset: 4096 });
    const log = store.logBytes(4096, 4096 + 3000);
    assert.deepEqual(
      [0, 1000, 2000]
        .map((at) => decodeRecord(log, at))
        .map(({ queueOffset, physicalOffset }) => [queueOffset, physicalOffset]),
      [
        [1, 4096],
        [2, 5096],
        [3, 6096],
      ],
    );
    store.close();
  });

  it('B31 refuses what no segment holds, writes nothing of it, and burns no offset', () => {
    const store = onMemory({ segmentBytes: 4096 });
    const appender = store.appender();
    store.put({ body: bodyFor(500) });
    store.put({ body: bodyFor(4089) });
    store.put({ body: bodyFor(2100) }, { body: bodyFor(2100) });
    store.put({ body: bodyFor(500) });
    const settled = store.append(appender);
    assert.deepEqual(
      settled.map(({ status }) => status),
      [SlotStatus.stored, SlotStatus.tooLarge, SlotStatus.tooLarge, SlotStatus.stored],
    );
    assert.deepEqual(settled[3], { status: SlotStatus.stored, queueOffset: 1, physicalOffset: 500 });
    assert.equal(store.mark(Watermark.appended), 1000);
    assert.deepEqual(store.log.files.list(store.log.dir), ['00000000000000000000'], 'no segment was begun for it');
    store.close();
  });

  it('writes a batch of units with one call', () => {
    const store = onLossy({ segmentBytes: 65_536 });
    const appender = store.appender();
    store.put({});
    store.append(appender);
    const before = store.disk.operations;
    for (let i = 0; i < 20; i++) store.put({ queueId: i });
    assert.equal(store.append(appender).length, 20);
    assert.equal(store.disk.operations - before, 1);
    store.close();
  });

  it('takes units from both sides of the end of the ring', () => {
    const store = onMemory({ ringBytes: 2000, segmentBytes: 65_536 });
    const appender = store.appender();
    let offset = 0;
    for (let round = 0; round < 20; round++) {
      let put = 0;
      while (store.put({ body: bodyFor(300 + (round % 7)), queueId: 1 })) put++;
      const settled = store.append(appender);
      assert.equal(settled.length, put);
      for (const { queueOffset, status } of settled)
        assert.deepEqual([status, queueOffset], [SlotStatus.stored, offset++]);
    }
    assert.ok(offset > 80);
    store.close();
  });

  it('does not let the stored time mark go back when the wall clock does', () => {
    const store = onMemory();
    const appender = store.appender();
    store.put({});
    store.append(appender);
    store.clock.stepWall(-60_000);
    store.put({});
    const [{ status, physicalOffset }] = store.append(appender);
    assert.equal(status, SlotStatus.stored);
    const end = store.mark(Watermark.appended);
    assert.equal(decodeRecord(store.logBytes(physicalOffset, end), 0).storeTimestamp, 1_700_000_000_000 - 60_000);
    assert.equal(store.mark(Watermark.appendedTimeMs), 1_700_000_000_000);
    store.close();
  });
});

describe('appender on a disk that fails', () => {
  for (const [code, status] of [
    ['ENOSPC', SlotStatus.noSpace],
    ['EDQUOT', SlotStatus.noSpace],
    ['EIO', SlotStatus.writeFailed],
  ] as const)
    it(`B05 refuses exactly the batch whose write fails with ${code}, and burns nothing`, () => {
      const store = onLossy({ segmentBytes: 1 << 20 });
      const appender = store.appender();
      store.put({});
      store.append(appender);
      const end = store.mark(Watermark.appended);
      store.disk.fail({ operation: 'write', path: 'commitlog', code });
      store.put({ body: bodyFor(5000) });
      store.put({ body: bodyFor(5000) }, { body: bodyFor(5000) });
      assert.deepEqual(
        store.append(appender).map((unit) => unit.status),
        [status, status],
      );
      assert.equal(store.mark(Watermark.appended), end);
      assert.equal(store.watermarks.raised(Fault.append), false);
      assert.ok(
        store.logBytes(end, end + 15_000).every((byte) => byte === 0),
        'what the failed write left behind is gone',
      );
      for (let i = 1; i <= 1000; i++) {
        store.put({});
        const [unit] = store.append(appender);
        assert.deepEqual([unit.status, unit.queueOffset], [SlotStatus.stored, i]);
      }
      assert.deepEqual([store.writer.inFlight, store.writer.bytesInFlight], [0, 0], 'no slot was lost');
      assert.match(store.logger.lines[0].message, /the messages of this batch were refused/);
      store.close();
    });

  it('refuses a unit for which no segment can be made, and goes on when it can', () => {
    const store = onLossy({ segmentBytes: 4096 });
    const appender = store.appender();
    store.put({ body: bodyFor(3000) });
    store.append(appender);
    store.disk.fail({ operation: 'create', code: 'ENOSPC' });
    store.put({ body: bodyFor(2000) });
    assert.deepEqual(
      store.append(appender).map(({ status }) => status),
      [SlotStatus.noSpace],
    );
    assert.deepEqual(store.disk.list(store.log.dir), ['00000000000000000000'], 'no half segment');
    store.put({ body: bodyFor(500) });
    const [unit] = store.append(appender);
    assert.deepEqual([unit.status, unit.queueOffset], [SlotStatus.stored, 1]);
    assert.equal(
      checkRecord(store.logBytes(unit.physicalOffset, unit.physicalOffset + 500), 0, unit.physicalOffset, {
        crc: true,
      }),
      undefined,
    );
    store.close();
  });

  it('keeps the present segment usable when its filler cannot be written', () => {
    const store = onLossy({ segmentBytes: 4096 });
    const appender = store.appender();
    store.put({ body: bodyFor(3000) });
    store.append(appender);
    store.disk.fail({ operation: 'write', path: 'commitlog', code: 'EIO' });
    store.put({ body: bodyFor(2000) });
    store.put({ body: bodyFor(500) });
    assert.deepEqual(
      store.append(appender).map(({ status, physicalOffset }) => [status, physicalOffset]),
      [
        [SlotStatus.writeFailed, 0],
        [SlotStatus.stored, 3000],
      ],
    );
    store.close();
  });

  it('is read-only from the moment that a failed write cannot be erased', () => {
    const store = onLossy({ segmentBytes: 65_536 });
    const appender = store.appender();
    store.put({});
    store.append(appender);
    const end = store.mark(Watermark.appended);
    store.disk.fail({ operation: 'write', path: 'commitlog', code: 'EIO' });
    store.disk.fail({ operation: 'write', path: 'commitlog', code: 'EIO' });
    store.put({ body: bodyFor(5000) });
    assert.deepEqual(
      store.append(appender).map(({ status }) => status),
      [SlotStatus.readOnly],
    );
    assert.equal(store.watermarks.raised(Fault.append), true);
    const writes = store.disk.operations;
    store.put({});
    assert.deepEqual(
      store.append(appender).map(({ status }) => status),
      [SlotStatus.readOnly],
    );
    assert.equal(store.disk.operations, writes, 'nothing is tried any more');
    assert.equal(store.mark(Watermark.appended), end);
    assert.equal(store.table.get(store.table.find('T', 0), QueueWord.next), 1);
    store.close();
  });

  for (const [part, outcome] of [
    [0, 'goes on when a full disk refuses the zeros, too, but holds nothing of the failed write'],
    [0.5, 'is read-only when a full disk holds some of the failed write and refuses the zeros'],
  ] as const)
    it(outcome, () => {
      const store = onLossy({ segmentBytes: 65_536 }, new SteadyRandom(part));
      const appender = store.appender();
      for (let i = 0; i < 2; i++) store.disk.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
      store.put({ body: bodyFor(5000) });
      const damaged = part > 0;
      assert.equal(store.append(appender)[0].status, damaged ? SlotStatus.readOnly : SlotStatus.noSpace);
      assert.equal(store.watermarks.raised(Fault.append), damaged);
      store.put({});
      assert.equal(store.append(appender)[0].status, damaged ? SlotStatus.readOnly : SlotStatus.stored);
      store.close();
    });

  it('takes nothing more after a sync failed', () => {
    const store = onMemory();
    const appender = store.appender();
    store.watermarks.raise(Fault.flush);
    store.put({});
    assert.equal(store.append(appender)[0].status, SlotStatus.readOnly);
    assert.equal(store.mark(Watermark.appended), 0);
    store.close();
  });
});
