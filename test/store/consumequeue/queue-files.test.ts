import assert from 'node:assert/strict';
import type { StoreFile } from '../../../store/files/contract.js';
import { viewOf } from '../../../protocol/copy.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import {
  blankUnits,
  isBlankUnit,
  isRecordUnit,
  queueFileBytes,
  unitPhysicalOffset,
  unitSize,
  unitTagsCode,
  writeUnit,
} from '../../../store/consumequeue/unit.js';
import { LossyFiles } from '../../support/lossy-files.js';

const FILE_BYTES = 200;
const make = (files: MemoryFiles | LossyFiles, mode: 'read' | 'readWrite' = 'readWrite', openMax = 8): QueueFiles =>
  new QueueFiles({ files, dir: '/s/consumequeue', temporaryDir: '/s/.tmp', fileBytes: FILE_BYTES, openMax, mode });

/** Units for records of 100 bytes that follow each other. */
function units(from: number, count: number): Buffer {
  const bytes = Buffer.alloc(count * 20);
  for (let index = 0; index < count; index += 1)
    writeUnit(viewOf(bytes), index * 20, (from + index) * 100, 100, -1, from + index);
  return bytes;
}
const put = (queues: QueueFiles, topic: string, queueId: number, from: number, count: number): void =>
  queues.write(topic, queueId, from, units(from, count), count * 20);

describe('units', () => {
  it('are 20 bytes, big-endian', () => {
    const unit = Buffer.alloc(20);
    writeUnit(viewOf(unit), 0, 0x1_0000_0002, 300, -1, -5);
    assert.equal(unit.toString('hex'), '00000001000000020000012cfffffffffffffffb');
    assert.deepEqual(
      [unitPhysicalOffset(unit, 0), unitSize(unit, 0), unitTagsCode(unit, 0)],
      [0x1_0000_0002, 300, -5n],
    );
    assert.deepEqual([isRecordUnit(unit, 0), isBlankUnit(unit, 0)], [true, false]);
    const blank = blankUnits(1);
    assert.equal(blank.toString('hex'), '00000000000000007fffffff0000000000000000');
    assert.deepEqual([isRecordUnit(blank, 0), isBlankUnit(blank, 0)], [false, true]);
    assert.deepEqual([isRecordUnit(Buffer.alloc(20), 0), isBlankUnit(Buffer.alloc(20), 0)], [false, false]);
  });

  it('fill files whose size is rounded up to whole units', () => {
    assert.deepEqual([6_000_000, 6000, 6001, 1].map(queueFileBytes), [6_000_000, 6000, 6020, 20]);
  });
});

describe('QueueFiles', () => {
  it('puts units by queue offset, across file ends, into complete files', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 25);
    assert.deepEqual(files.list('/s/consumequeue/T/0'), [
      '00000000000000000000',
      '00000000000000000200',
      '00000000000000000400',
    ]);
    for (const name of files.list('/s/consumequeue/T/0'))
      assert.equal(files.sizeOf(`/s/consumequeue/T/0/${name}`), FILE_BYTES);
    assert.ok(queues.read('T', 0, 0, 25).equals(units(0, 25)));
    assert.ok(queues.read('T', 0, 9, 12).equals(units(9, 12)));
    assert.deepEqual(files.list('/s/.tmp'), []);
  });

  it('reads without holding the thread across file ends, to where the files end, also while they are let go of', async () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 25);
    assert.ok((await queues.readAsync('T', 0, 9, 12)).equals(units(9, 12)));
    const [last, none, unknown] = [
      queues.readAsync('T', 0, 20, 99),
      queues.readAsync('T', 0, 30, 1),
      queues.readAsync('U', 0, 0, 1),
    ];
    queues.forget('T', 0);
    assert.ok((await last).subarray(0, 100).equals(units(20, 5)));
    assert.deepEqual([(await last).length, (await none).length, (await unknown).length], [FILE_BYTES, 0, 0]);
    assert.equal(queues.openCount, 0);
  });

  it('drops files that hold only units below an offset, the first one first, never the last', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 35);
    assert.deepEqual(queues.dropBelow('T', 0, 9), []);
    assert.deepEqual(queues.dropBelow('T', 0, 29), ['00000000000000000000', '00000000000000000200']);
    assert.ok(queues.read('T', 0, 20, 15).equals(units(20, 15)));
    assert.deepEqual(queues.dropBelow('T', 0, 1000), ['00000000000000000400']);
    assert.deepEqual(files.list('/s/consumequeue/T/0'), ['00000000000000000600']);
    queues.syncDirty();
    assert.deepEqual(queues.dropBelow('unknown', 3, 1000), []);
  });

  it('changes nothing when units are written again', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 25);
    const before = queues.read('T', 0, 0, 30);
    put(queues, 'T', 0, 3, 10);
    put(queues, 'T', 0, 0, 25);
    assert.ok(queues.read('T', 0, 0, 30).equals(before));
  });

  it('takes units out of the middle of a buffer', () => {
    const queues = make(new MemoryFiles(1 << 24));
    queues.write('T', 1, 0, units(0, 10), 60, 40);
    assert.ok(queues.read('T', 1, 0, 3).equals(units(2, 3)));
  });

  it('reads what another instance writes, and leaves no trace of unknown queues', () => {
    const files = new MemoryFiles(1 << 24);
    const reader = make(files, 'read');
    assert.equal(reader.read('T', 0, 0, 10).length, 0);
    assert.equal(reader.read('../x', 0, 0, 10).length, 0);
    assert.equal(reader.read('T', -1, 0, 10).length, 0);
    assert.equal(reader.read('T', 0, -5, 10).length, 0);
    assert.deepEqual(files.list('/s'), []);
    const writer = make(files);
    put(writer, 'T', 0, 0, 12);
    assert.ok(reader.read('T', 0, 8, 4).equals(units(8, 4)));
    assert.equal(reader.read('T', 0, 8, 100).length, 12 * 20, 'up to the end of the files');
    assert.equal(reader.read('T', 0, 20, 1).length, 0);
  });

  it('refuses to write under a name that is none (B32)', () => {
    const queues = make(new MemoryFiles(1 << 24));
    for (const [topic, queueId] of [
      ['../x', 0],
      ['', 0],
      ['a/b', 0],
      ['T', -1],
      ['T', 1.5],
    ] as const)
      assert.throws(() => put(queues, topic, queueId, 0, 1), { code: 'NAME_INVALID' });
  });

  it('marks units before the first one as blank, as 4.9 does', () => {
    const queues = make(new MemoryFiles(1 << 24));
    put(queues, 'T', 0, 13, 2);
    assert.deepEqual(queues.files.list('/s/consumequeue/T/0'), ['00000000000000000200']);
    assert.ok(queues.read('T', 0, 10, 5).equals(Buffer.concat([blankUnits(3), units(13, 2)])));
    put(queues, 'T', 0, 18, 1);
    assert.ok(queues.read('T', 0, 13, 6).equals(Buffer.concat([units(13, 2), blankUnits(3), units(18, 1)])));
  });

  it('marks them also when a crash lost the marks', () => {
    const files = new MemoryFiles(1 << 24);
    files.createComplete('/s/consumequeue/T/0/00000000000000000200', FILE_BYTES, '/s/.tmp');
    const queues = make(files);
    put(queues, 'T', 0, 13, 2);
    assert.ok(queues.read('T', 0, 10, 5).equals(Buffer.concat([blankUnits(3), units(13, 2)])));
  });

  it('lists queues and says what it passes over', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, '%RETRY%g', 0, 0, 1);
    put(queues, 'T', 7, 0, 1);
    put(queues, 'T', 10, 0, 1);
    files.makeDir('/s/consumequeue/T/x1');
    files.makeDir('/s/consumequeue/T/007');
    files.makeDir('/s/consumequeue/bad name/0');
    const { queues: found, skipped } = queues.list();
    assert.deepEqual(found, [
      { topic: '%RETRY%g', queueId: 0 },
      { topic: 'T', queueId: 10 },
      { topic: 'T', queueId: 7 },
    ]);
    assert.deepEqual(skipped, [
      "/s/consumequeue/T/007: not a queue's id",
      "/s/consumequeue/T/x1: not a queue's id",
      "/s/consumequeue/bad name: not a topic's name",
    ]);
  });

  it('keeps few files open over all queues', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files, 'readWrite', 4);
    for (let queueId = 0; queueId < 50; queueId += 1) put(queues, 'T', queueId, 0, 5);
    assert.equal(queues.openCount, 4);
    for (let queueId = 0; queueId < 50; queueId += 1) assert.ok(queues.read('T', queueId, 0, 5).equals(units(0, 5)));
    queues.close();
    assert.equal(queues.openCount, 0);
  });

  it('removes a topic and begins it anew', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 'T', 0, 0, 15);
    put(queues, 'T', 1, 0, 1);
    put(queues, 'T2', 0, 0, 1);
    queues.remove('T');
    queues.remove('../..');
    assert.deepEqual(files.list('/s/consumequeue'), ['T2']);
    const { steps, names } = queues.takeUnsynced();
    assert.deepEqual(steps.slice(names), ['/s/consumequeue/T2/0/00000000000000000000']);
    assert.equal(queues.read('T', 0, 0, 1).length, 0);
    put(queues, 'T', 0, 0, 1);
    assert.ok(queues.read('T', 0, 0, 1).equals(units(0, 1)));
    queues.removeQueue('T', 0);
    assert.deepEqual(files.list('/s/consumequeue/T'), []);
  });
});

describe('QueueFiles.syncDirty', () => {
  it('makes units safe, some files at a time', () => {
    const files = new LossyFiles();
    const queues = make(files, 'readWrite', 1);
    for (let queueId = 0; queueId < 5; queueId += 1) put(queues, 'T', queueId, 0, 3);
    const unsynced = queues.takeUnsynced();
    assert.equal(unsynced.names, 9, 'the root, those of store, queues and topic, and of each queue');
    assert.equal(queues.syncSome(unsynced, 11), 3);
    assert.equal(queues.syncSome(unsynced, 9), 0);
    put(queues, 'T', 0, 3, 2);
    const after = make(files.restart('everything'), 'read');
    assert.ok(after.read('T', 0, 0, 3).equals(units(0, 3)));
    assert.equal(unitSize(after.read('T', 0, 4, 1), 0), 0, 'written behind the sync');
    assert.ok(after.read('T', 4, 0, 3).equals(units(0, 3)));
  });

  it('fails for good once it failed', () => {
    const files = new LossyFiles();
    const queues = make(files);
    put(queues, 'T', 0, 0, 3);
    files.fail({ operation: 'sync', path: '/T/0/', code: 'EIO' });
    assert.throws(() => queues.syncDirty(), { code: 'EIO' });
    assert.throws(() => queues.syncDirty(), { code: 'EIO' });
    put(queues, 'T', 0, 3, 1);
    assert.throws(() => queues.syncDirty(), { code: 'EIO' });
  });

  it('opens a file again that was closed meanwhile, and passes over one that is gone', () => {
    const synced: string[] = [];
    class Watching extends MemoryFiles {
      override open(path: string, mode: 'read' | 'readWrite'): StoreFile {
        const file = super.open(path, mode);
        file.sync = () => void synced.push(path);
        return file;
      }
    }
    const files = new Watching(1 << 24);
    const queues = make(files, 'readWrite', 1);
    put(queues, 'T', 0, 0, 1);
    put(queues, 'T', 1, 0, 1);
    put(queues, 'T', 2, 0, 1);
    put(queues, 'T', 3, 0, 1);
    files.removeTree('/s/consumequeue/T/1');
    queues.syncDirty();
    assert.deepEqual(
      synced,
      [0, 2, 3].map((queueId) => `/s/consumequeue/T/${queueId}/00000000000000000000`),
    );
  });
});
