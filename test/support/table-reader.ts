import { parentPort, workerData } from 'node:worker_threads';
import { QueueTable, QueueWord, type QueueTableMemory } from '../../kernel/ring/queue-table.js';

/** A queue as the other thread finds it: its row, and what stands in its `next` word. */
export interface FoundQueue {
  readonly row: number;
  readonly next: number;
}

/** The other thread of a queue table: looks queues up when asked, and writes their `dispatched` word. */
if (parentPort !== null && workerData !== null) {
  const port = parentPort;
  const table = new QueueTable(workerData as QueueTableMemory);
  port.on('message', (names: readonly (readonly [topic: string, queueId: number])[]) => {
    const found = names.map(([topic, queueId]): FoundQueue => {
      const row = table.find(topic, queueId);
      if (row < 0) return { row, next: -1 };
      table.set(row, QueueWord.dispatched, row * 2);
      return { row, next: table.get(row, QueueWord.next) };
    });
    port.postMessage(found);
  });
}
