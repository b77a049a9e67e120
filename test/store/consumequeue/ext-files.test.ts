import assert from 'node:assert/strict';
import { viewOf } from '../../../protocol/copy.js';
import { cutExt, expireExt, removeOrphans } from '../../../store/consumequeue/ext-cut.js';
import { ExtUnits, readExtUnit, unitExtOffset } from '../../../store/consumequeue/ext-unit.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { recoverQueues, type QueueRecovery } from '../../../store/consumequeue/recover-queues.js';
import { UNIT_BYTES, unitTagsCode, writeUnit } from '../../../store/consumequeue/unit.js';
import type { StoreFiles } from '../../../store/files/contract.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { segmentName } from '../../../store/files/paths.js';
import { LossyFiles } from '../../support/lossy-files.js';

const EXT_DIR = '/s/consumequeue_ext';
/** Six units of 20 bytes in a file, ten ConsumeQueue units in one. */
const make = (files: StoreFiles = new MemoryFiles(1 << 24), enabled = true): QueueFiles =>
  new QueueFiles({
    files,
    dir: '/s/consumequeue',
    temporaryDir: '/s/.tmp',
    fileBytes: 200,
    openMax: 4,
    mode: 'readWrite',
    ext: { dir: EXT_DIR, fileBytes: 128, enabled },
  });

/** Unit n stands for a record of 100 bytes at 100 n, with tags code n; with an ext unit while those are on. */
function put(queues: QueueFiles, from: number, count: number, bitmap?: Uint8Array, topic = 'T'): void {
  const units = Buffer.alloc(count * UNIT_BYTES);
  const ext = new ExtUnits();
  for (let index = 0; index < count; index += 1) {
    writeUnit(viewOf(units), index * UNIT_BYTES, (from + index) * 100, 100, 0, from + index);
    ext.add(0, from + index, 5000 + from + index, bitmap);
  }
  queues.write(topic, 0, from, units, units.length, 0, queues.ext?.enabled === true ? ext : undefined);
}

const offsetsOf = (queues: QueueFiles, from = 0, count = 100, topic = 'T'): number[] => {
  const units = queues.read(topic, 0, from, count);
  const offsets: number[] = [];
  for (let at = 0; at < units.length && units.readInt32BE(at + 8) > 0; at += UNIT_BYTES)
    offsets.push(unitExtOffset(units, at));
  return offsets;
};

function tagsCodeAt(queues: QueueFiles, extOffset: number): bigint | undefined {
  const bytes = Buffer.alloc(128);
  const length = queues.ext?.read('T', 0, extOffset, bytes, bytes.length) ?? 0;
  return readExtUnit(bytes.subarray(0, length), 0)?.tagsCode;
}

/** Each unit's ext unit is its own. */
function assertOwn(queues: QueueFiles, count: number): void {
  const offsets = offsetsOf(queues);
  assert.equal(offsets.length, count);
  offsets.forEach((extOffset, offset) => assert.equal(tagsCodeAt(queues, extOffset), BigInt(offset), `unit ${offset}`));
}

const zeros = (files: StoreFiles, base: number, from: number, to: number): void =>
  files.open(`${EXT_DIR}/T/0/${segmentName(base)}`, 'readWrite').write(Buffer.alloc(to - from), 0, to - from, from);

describe('ext files', () => {
  it('hold the units one behind the other, a mark where the next did not fit', () => {
    const queues = make();
    put(queues, 0, 14);
    assert.deepEqual(offsetsOf(queues), [0, 20, 40, 60, 80, 100, 128, 148, 168, 188, 208, 228, 256, 276]);
    assert.deepEqual(queues.ext?.bases('T', 0), [0, 128, 256]);
    const first = queues.files.readAll(`${EXT_DIR}/T/0/${segmentName(0)}`);
    assert.equal(first.subarray(100).toString('hex'), '00140000000000000005000000000000138d0000ffff000000000000');
  });

  it('get the same bytes in the same places when dispatched again, by this instance or a new one', () => {
    const files = new MemoryFiles(1 << 24);
    const bytes = (): string[] =>
      [0, 128, 256].map((base) => files.readAll(`${EXT_DIR}/T/0/${segmentName(base)}`).toString('hex'));
    put(make(files), 0, 14);
    const written = bytes();
    for (const [from, count] of [
      [0, 14],
      [3, 1],
      [5, 3],
      [13, 1],
    ] as const) {
      const queues = make(files);
      put(queues, from, count);
      put(queues, from, count);
      assert.deepEqual(bytes(), written, `${count} from ${from} on`);
      assert.deepEqual(queues.ext?.bases('T', 0), [0, 128, 256]);
    }
  });

  it('begin at 0 in a queue whose first units are gone', () => {
    const queues = make();
    put(queues, 25, 3);
    assert.deepEqual(offsetsOf(queues, 25), [0, 20, 40]);
  });

  it('go on behind the last address after a time without', () => {
    const files = new MemoryFiles(1 << 24);
    put(make(files), 0, 3);
    put(make(files, false), 3, 600);
    const queues = make(files);
    put(queues, 603, 1);
    assert.deepEqual(offsetsOf(queues, 601), [-1, -1, 60]);
  });

  it('go on in a new file when the last unit cannot be read, so that none in use is overwritten', () => {
    const files = new MemoryFiles(1 << 24);
    put(make(files), 0, 8);
    zeros(files, 128, 0, 128);
    const queues = make(files);
    put(queues, 8, 1);
    assert.deepEqual(offsetsOf(queues, 7), [148, 256]);
    files.removeTree(`${EXT_DIR}/T/0`);
    const other = make(files);
    put(other, 9, 1);
    assert.deepEqual(offsetsOf(other, 7), [148, 256, 384]);
  });

  it('are synced before the units that point to them', () => {
    const files = new LossyFiles();
    const queues = make(files);
    put(queues, 0, 3);
    files.fail({ operation: 'sync', path: '/consumequeue/', code: 'EIO' });
    assert.throws(() => queues.syncDirty(), { code: 'EIO' });
    assert.equal(tagsCodeAt(make(files.restart('everything')), 40), 2n);
  });

  it('go with their topic, before anything of the same name begins anew', () => {
    const queues = make();
    put(queues, 0, 8);
    put(queues, 0, 8, undefined, 'T2');
    queues.remove('T');
    assert.deepEqual(queues.files.list(EXT_DIR), ['T2']);
    put(queues, 0, 1);
    assert.deepEqual(offsetsOf(queues), [0]);
    put(queues, 8, 1, undefined, 'T2');
    assert.deepEqual(offsetsOf(queues, 7, 2, 'T2'), [148, 168]);
  });

  it('give nothing for an address beyond all files, whatever it is', () => {
    const queues = make();
    put(queues, 0, 3);
    for (const extOffset of [60, 127, 128, 2 ** 40, 2 ** 53, 2 ** 62])
      assert.equal(tagsCodeAt(queues, extOffset), undefined);
    assert.throws(() => queues.ext?.read('../x', 0, 0, Buffer.alloc(20), 20), { code: 'NAME_INVALID' });
  });
});

describe('expired ext files', () => {
  it('are those that end before the first message that is kept', () => {
    const files = new MemoryFiles(1 << 24);
    const queues = make(files);
    put(queues, 0, 20);
    assert.deepEqual(queues.ext?.bases('T', 0), [0, 128, 256, 384]);
    const addressOf = (offset: number): bigint => unitTagsCode(queues.read('T', 0, offset, 1), 0);
    // 4.9 keeps a file that ends right where the first message's unit begins.
    for (const offset of [0, 5, 6]) assert.deepEqual(expireExt(files, EXT_DIR, 'T', 0, addressOf(offset)), []);
    assert.deepEqual(expireExt(files, EXT_DIR, 'T', 0, addressOf(7)), [`${EXT_DIR}/T/0/${segmentName(0)}`]);
    assert.deepEqual(expireExt(files, EXT_DIR, 'T', 0, 2n ** 62n), [], 'a due time');
    assert.deepEqual(expireExt(files, EXT_DIR, 'T', 0, -77n), [], 'a hash');
    assert.deepEqual(expireExt(files, EXT_DIR, 'T', 0, -1), []);
    assert.deepEqual(
      expireExt(files, EXT_DIR, 'T', 0, 10_000),
      [128, 256].map((base) => `${EXT_DIR}/T/0/${segmentName(base)}`),
    );
    assert.deepEqual(queues.ext?.bases('T', 0), [384], 'the last one stays');
    assert.deepEqual(expireExt(files, EXT_DIR, '../T', 0, 10_000), []);
    put(queues, 20, 1);
    assert.deepEqual(offsetsOf(queues, 18), [384, 404, 424]);
  });
});

describe('recovery of ext files', () => {
  function recover(queues: QueueFiles, physicalEnd: number, physicalMin = 0): QueueRecovery {
    return recoverQueues({ queues, physicalMin, physicalEnd, beforeRebuild: () => undefined });
  }

  function filled(count: number): QueueFiles {
    const queues = make();
    put(queues, 0, count);
    queues.close();
    return make(queues.files);
  }

  it('finds nothing to do in good ones, nor in a queue without', () => {
    const queues = filled(14);
    put(make(queues.files, false), 14, 3);
    const found = recover(queues, 1700);
    assert.deepEqual([found.rebuildFrom, found.notes], [undefined, []]);
    assert.equal(found.queues[0]?.maxOffset, 17);
  });

  it('builds the queue again from the first unit whose ext unit is missing', () => {
    const queues = filled(14);
    zeros(queues.files, 128, 40, 60);
    const found = recover(queues, 1400);
    assert.deepEqual([found.queues[0]?.maxOffset, found.rebuildFrom], [8, 800]);
    put(queues, 8, 6);
    assertOwn(queues, 14);
  });

  it('builds the queue again from a unit that points to an ext unit of another', () => {
    const queues = filled(14);
    const unit = queues.read('T', 0, 4, 1);
    queues.write('T', 0, 9, Buffer.concat([queues.read('T', 0, 9, 1).subarray(0, 12), unit.subarray(12)]), UNIT_BYTES);
    const found = recover(queues, 1400);
    assert.deepEqual([found.queues[0]?.maxOffset, found.rebuildFrom], [9, 900]);
    put(queues, 9, 5);
    assertOwn(queues, 14);
  });

  for (const [what, damage] of [
    ['the folder is gone', (files: StoreFiles) => files.removeTree(`${EXT_DIR}/T/0`)],
    ['the first file is gone', (files: StoreFiles) => files.remove(`${EXT_DIR}/T/0/${segmentName(0)}`)],
    ['a file between is gone', (files: StoreFiles) => files.remove(`${EXT_DIR}/T/0/${segmentName(128)}`)],
    [
      'a file has another size',
      (files: StoreFiles) => files.open(`${EXT_DIR}/T/0/${segmentName(128)}`, 'readWrite').truncate(100),
    ],
    ['a file is empty', (files: StoreFiles) => files.open(`${EXT_DIR}/T/0/${segmentName(0)}`, 'readWrite').truncate(0)],
  ] as const) {
    it(`builds queue and ext files again from the log when ${what}`, () => {
      const queues = filled(40);
      damage(queues.files);
      const found = recover(queues, 4000);
      assert.equal(found.rebuildFrom, 0);
      assert.deepEqual([queues.bases('T', 0), queues.ext?.bases('T', 0)], [[], []]);
      put(queues, 0, 40);
      assertOwn(queues, 40);
    });
  }

  it('misses no ext file whose messages are expired', () => {
    const queues = filled(40);
    queues.files.remove(`${EXT_DIR}/T/0/${segmentName(0)}`);
    assert.deepEqual(recover(queues, 4000, 600).notes, []);
    assert.equal(recover(queues, 4000, 500).notes.length, 1);
  });

  it('leaves nothing behind the last unit, where 4.9 would go from size to size', () => {
    const files = new MemoryFiles(1 << 24);
    put(make(files), 0, 14, Buffer.alloc(5, 0xee));
    put(make(files), 0, 7);
    const queues = make(files);
    assert.ok(queues.ext !== undefined);
    cutExt(queues, queues.ext, 'T', 0, 7);
    assert.deepEqual(queues.ext.bases('T', 0), [0, 128]);
    const last = files.readAll(`${EXT_DIR}/T/0/${segmentName(128)}`);
    assert.deepEqual([last.readInt16BE(0), last.subarray(20).every((byte) => byte === 0)], [20, true]);
    cutExt(queues, queues.ext, 'T', 0, 0);
    assert.deepEqual(files.list(`${EXT_DIR}/T`), []);
  });

  it('removes those of queues that are not there', () => {
    const queues = filled(3);
    put(queues, 0, 3, undefined, 'T2');
    queues.files.removeTree('/s/consumequeue/T2');
    queues.files.makeDir(`${EXT_DIR}/T/note`);
    assert.ok(queues.ext !== undefined);
    assert.deepEqual(removeOrphans(queues, queues.ext), [`${EXT_DIR}/T2/0 was removed: there is no such queue`]);
    assert.deepEqual(queues.files.list(`${EXT_DIR}/T`), ['0', 'note']);
  });

  it('does not look at them while ext units are off', () => {
    const queues = filled(14);
    queues.files.removeTree(`${EXT_DIR}/T/0`);
    assert.deepEqual(recover(make(queues.files, false), 1400).notes, []);
  });
});
