import assert from 'node:assert/strict';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { unitPhysicalOffset } from '../../store/consumequeue/unit.js';
import { BrokerLife } from '../support/life/broker-life.js';
import { LifeClock } from '../support/life/life-clock.js';
import { LossyFiles } from '../support/lossy-files.js';
import { testRecord } from '../support/records.js';

const clock = new LifeClock();
const start = (files: LossyFiles): Promise<BrokerLife> =>
  BrokerLife.start({ files, clock, sync: false, replace: async (path, content) => files.replace(path, content, true) });

/** Stored and dispatched; returns the physical offsets. */
function send(life: BrokerLife, count: number): number[] {
  const placed: number[] = [];
  for (let i = 0; i < count; i++) {
    const record = testRecord({ topic: 'U', physicalOffset: 0 });
    record.copy(life.gate.bytes, life.gate.reserve(record.length));
    life.gate.commit(record.length, 'U', 0, 1, {
      waitStore: true,
      appended: (ring, at) => void placed.push(Number(ring.getBigInt64(at + 28))),
      settle: (status) => assert.equal(status, 'stored'),
    });
  }
  life.gate.publish();
  life.threads.rest('commitlog');
  life.collect();
  life.threads.rest('reput');
  return placed;
}

function queueOf(life: BrokerLife) {
  const row = life.store.queueTable.find('U', 0);
  const [min, end] = [life.queues.minOffset('U', 0), life.queues.maxOffset('U', 0)];
  const at = Array.from({ length: end - min }, (_, i) =>
    unitPhysicalOffset(life.queues.entries('U', 0, min + i, 1), 0),
  );
  return { min, next: life.store.queueTable.get(row, QueueWord.next), at };
}

describe('a topic that was deleted and made anew', () => {
  for (const [how, restart] of [
    ['a kill', (files: LossyFiles) => files.killed()],
    ['a power cut', (files: LossyFiles) => files.restart('nothing')],
  ] as const) {
    it(`has its new messages only after ${how}, and counts on behind them`, async () => {
      let files = new LossyFiles();
      let life = await start(files);
      send(life, 8);
      await life.queues.deleteTopic('U');
      const placed = send(life, 3);
      for (let again = 0; again < 2; again++) {
        files = restart(files);
        life = await start(files);
        assert.deepEqual(queueOf(life), { min: 0, next: placed.length, at: placed });
      }
      placed.push(...send(life, 2));
      assert.deepEqual(queueOf(life), { min: 0, next: 5, at: placed });
      await life.stop();
      assert.deepEqual(queueOf(await start(files.restart('everything'))), { min: 0, next: 5, at: placed });
    });
  }
});
