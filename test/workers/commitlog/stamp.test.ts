import assert from 'node:assert/strict';
import { SlotStatus } from '../../../kernel/ring/slots.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { LogServices } from '../../support/log-services.js';
import { testRecord } from '../../support/records.js';

describe('a unit of the ring that cannot be stamped', () => {
  for (const [what, spoil] of [
    ['an entry whose record is larger than it', (unit: Buffer) => unit.writeInt32BE(unit.length + 1, 0)],
    ['an entry whose record is smaller', (unit: Buffer) => unit.writeInt32BE(unit.length - 1, 0)],
    ['a record of 0 bytes', (unit: Buffer) => unit.writeInt32BE(0, 0)],
    ['a record of negative size', (unit: Buffer) => unit.writeInt32BE(-8, 0)],
    ['an entry larger than the ring', () => 1 << 20],
  ] as const)
    it(`B05 refuses ${what}, and nothing else`, () => {
      const store = new LogServices({ files: new MemoryFiles(64 << 20), segmentBytes: 2 << 20 });
      const appender = store.appender();
      const bad = (): void => {
        const unit = testRecord({ physicalOffset: 0, body: Buffer.alloc(200) });
        const size = Number(spoil(unit)) > unit.length + 1 ? 1 << 20 : unit.length;
        unit.copy(store.writer.bytes, store.writer.reserve(unit.length));
        store.writer.commit(size, store.table.register('T', 0), 1);
      };
      store.put({});
      store.put({});
      bad();
      const statuses = store.append(appender).map(({ status }) => status);
      assert.deepEqual(statuses, [SlotStatus.stored, SlotStatus.stored, SlotStatus.writeFailed]);
      const end = store.mark(Watermark.appended);
      bad();
      assert.deepEqual(
        store.append(appender).map(({ status }) => status),
        [SlotStatus.writeFailed],
      );
      assert.equal(store.mark(Watermark.appended), end, 'nothing of it is in the log');
      for (let i = 2; i < 1002; i++) {
        store.put({});
        const [unit] = store.append(appender);
        assert.deepEqual([unit.status, unit.queueOffset], [SlotStatus.stored, i]);
      }
      assert.deepEqual([store.writer.inFlight, store.writer.bytesInFlight], [0, 0], 'no slot was lost');
      store.close();
    });
});
