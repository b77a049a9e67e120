import assert from 'node:assert/strict';
import { Mailbox } from '../../../kernel/ring/mailbox.js';
import { QueueTable } from '../../../kernel/ring/queue-table.js';
import { RingReader } from '../../../kernel/ring/reader.js';
import { allocateRing, SlotStatus } from '../../../kernel/ring/slots.js';
import { StoreEnd, type StoreEndMemory } from '../../../kernel/ring/store-end.js';
import { Doorbell } from '../../../kernel/ring/wait.js';

function makeMemory(): StoreEndMemory {
  const words = new Int32Array(new SharedArrayBuffer(2 * Doorbell.wordsPerBell * Int32Array.BYTES_PER_ELEMENT));
  return {
    ring: allocateRing(1000, 8),
    writer: { words, index: 0 },
    queueTable: QueueTable.allocate(1024),
    mailbox: Mailbox.allocate({ words, index: 1 }),
  };
}

/** The log's writer: ends `count` units. */
function consume(reader: RingReader, ...statuses: SlotStatus[]): void {
  statuses.forEach((status, i) => reader.setStatus(i, status));
  reader.complete(statuses.length);
}

describe('StoreEnd', () => {
  it('hands units to the writer and their outcomes back, in order', () => {
    const memory = makeMemory();
    const reader = new RingReader(memory.ring);
    const end = new StoreEnd<string>(memory);
    for (const name of ['a', 'b']) {
      end.bytes.write(name, end.reserve(10));
      end.commit(10, 0, 1, name);
    }
    assert.equal(reader.available(), 0, 'nothing is seen before it is published');
    end.publish();
    assert.equal(reader.available(), 2);
    const heard: [string, SlotStatus, string, number][] = [];
    const listen = (): number =>
      end.collect((name, status, start, size) =>
        heard.push([name, status, end.bytes.toString('utf8', start, start + 1), size]),
      );
    assert.equal(listen(), 0);
    consume(reader, SlotStatus.stored, SlotStatus.noSpace);
    assert.equal(listen(), 2);
    assert.deepEqual(heard, [
      ['a', SlotStatus.stored, 'a', 10],
      ['b', SlotStatus.noSpace, 'b', 10],
    ]);
    assert.equal(end.inFlight, 0);
  });

  it('waits for what an earlier life left in the ring: its bytes lie where the next one begins', () => {
    const memory = makeMemory();
    const reader = new RingReader(memory.ring);
    const first = new StoreEnd<string>(memory);
    first.reserve(10);
    first.commit(10, 0, 1, 'lost');
    first.publish();
    const second = new StoreEnd<string>(memory);
    assert.equal(second.isReady, false);
    assert.equal(
      second.collect(() => assert.fail('what the earlier life stored is not this one’s')),
      0,
    );
    consume(reader, SlotStatus.stored);
    assert.equal(second.isReady, true);
    second.reserve(10);
    second.commit(10, 0, 1, 'own');
    second.publish();
    consume(reader, SlotStatus.stored);
    const heard: string[] = [];
    second.collect((name) => heard.push(name));
    assert.deepEqual(heard, ['own']);
  });

  it('asks once for the row of a queue that is not there, and finds it when it was added', () => {
    const memory = makeMemory();
    const mailbox = new Mailbox(memory.mailbox);
    const end = new StoreEnd<string>(memory);
    assert.equal(mailbox.isEmpty, true);
    assert.deepEqual([end.row('T', 1), end.row('T', 1)], [-1, -1]);
    assert.deepEqual([mailbox.take(), mailbox.take()], [true, false]);
    assert.deepEqual(end.takeWantedRows(), [{ topic: 'T', queueId: 1 }]);
    assert.deepEqual(end.takeWantedRows(), []);
    const row = new QueueTable(memory.queueTable).register('T', 1);
    assert.equal(end.row('T', 1), row);
    assert.equal(mailbox.isEmpty, true);
  });
});
