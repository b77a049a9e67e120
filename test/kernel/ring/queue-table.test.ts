import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { KernelError } from '../../../kernel/base/errors.js';
import { QueueTable, QueueWord } from '../../../kernel/ring/queue-table.js';
import type { FoundQueue } from '../../support/table-reader.js';

const READER = new URL('../../support/table-reader.js', import.meta.url);

describe('queue table', () => {
  it('gives each queue one row, and finds none that nobody added', () => {
    const table = new QueueTable(QueueTable.allocate(1024));
    const a = table.register('T', 0);
    const b = table.register('T', 7);
    const c = table.register('U', 0);
    assert.equal(new Set([a, b, c]).size, 3);
    assert.equal(table.register('T', 7), b);
    assert.equal(table.find('T', 7), b);
    assert.equal(table.find('T', 1), -1);
    assert.equal(table.find('V', 0), -1);
    assert.equal(table.count, 3);
    assert.deepEqual([table.topicOf(b), table.queueIdOf(b)], ['T', 7]);
    assert.deepEqual(table.idsOf('T'), [0, 7]);
    assert.deepEqual(table.idsOf('V'), []);
    assert.deepEqual(table.topics(), ['T', 'U']);
  });

  it('gives a deleted queue a row of its own when it comes back, all its words at 0', () => {
    const table = new QueueTable(QueueTable.allocate(1024));
    const reader = new QueueTable(table.memory);
    const old = table.register('T', 0);
    for (const word of Object.values(QueueWord)) table.set(old, word, 9);
    assert.equal(reader.find('T', 0), old);
    table.renew('T', 0);
    const row = table.find('T', 0);
    assert.notEqual(row, old);
    assert.deepEqual(
      Object.values(QueueWord).map((word) => table.get(row, word)),
      [0, 0, 0],
    );
    assert.equal(table.register('T', 0), row);
    assert.equal(reader.sync(), true);
    assert.equal(reader.find('T', 0), row, 'others see it after their next look');
  });

  it('keeps words apart', () => {
    const table = new QueueTable(QueueTable.allocate(1024));
    const rows = [table.register('T', 0), table.register('T', 1)];
    rows.forEach((row, i) => Object.values(QueueWord).forEach((word, j) => table.set(row, word, 100 * i + j)));
    rows.forEach((row, i) =>
      Object.values(QueueWord).forEach((word, j) => assert.equal(table.get(row, word), 100 * i + j)),
    );
  });

  it('is seen by another thread as it grows', async () => {
    const table = new QueueTable(QueueTable.allocate(100_000));
    const worker = new Worker(READER, { workerData: table.memory });
    try {
      let asked = 0;
      for (const count of [3, 1500, 6000]) {
        for (; asked < count; asked++) {
          const row = table.register(`topic-number-${asked}`, asked % 8);
          table.set(row, QueueWord.next, asked * 3);
        }
        const names = Array.from({ length: count }, (_, i) => [`topic-number-${i}`, i % 8]);
        worker.postMessage([...names, ['topic-number-0', 5], ['nobody', 0]]);
        const [found] = (await once(worker, 'message')) as [FoundQueue[]];
        assert.deepEqual(found.slice(count), [
          { row: -1, next: -1 },
          { row: -1, next: -1 },
        ]);
        for (let i = 0; i < count; i++) {
          const row = table.find(`topic-number-${i}`, i % 8);
          assert.deepEqual(found[i], { row, next: i * 3 });
          assert.equal(table.get(row, QueueWord.dispatched), row * 2, 'what the other thread wrote');
        }
      }
      assert.ok(table.memory.rows.byteLength > 1024 * 32, 'it did grow');
    } finally {
      await worker.terminate();
    }
  });

  it('holds the longest topics, and ends with an error that names the setting', () => {
    const table = new QueueTable(QueueTable.allocate(1024));
    const topic = (i: number): string => `${'x'.repeat(120)}${String(i).padStart(7, '0')}`;
    const fill = (): void => {
      for (let i = 0; ; i++) table.register(topic(i), 0);
    };
    assert.throws(fill, (error: Error) => error instanceof KernelError && error.code === 'QUEUE_TABLE_FULL');
    assert.throws(fill, (error: KernelError) => /queueTableRowsMax/.test(error.line()));
    const { count } = table;
    assert.ok(count >= 500);
    assert.equal(new QueueTable(table.memory).find(topic(count - 1), 0), count - 1, 'what was there before is well');
  });
});
