import assert from 'node:assert/strict';
import { PushConsumer } from '../../client/index.js';
import { RequestCode } from '../../protocol/codes.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

/** 4.9: PullAPIWrapper#recalculatePullFromWhichNode. */
describe('PushConsumer pulls from the member of a group that the broker suggests', () => {
  let master: FakeBroker;
  let slave: FakeBroker;
  let consumer: PushConsumer;

  async function begin(slaveId: number): Promise<string[]> {
    master.slaves.set(slaveId, slave);
    const seen: string[] = [];
    consumer = new PushConsumer({ namesrvAddr: master.address, group: 'G', periods: quick, pullMax: 10 });
    await consumer.subscribe('T');
    await consumer.start(([message]) => {
      seen.push(message!.body.toString());
      return 'success';
    });
    return seen;
  }

  const pulledFrom = (broker: FakeBroker): number[] =>
    broker.asked(RequestCode.PULL_MESSAGE).map(({ ext }) => decodePullMessage(ext).queueOffset);

  beforeEach(async () => {
    master = await FakeBroker.start();
    slave = await FakeBroker.start();
    for (const broker of [master, slave]) {
      broker.topics.set('T', { queues: 1 });
      broker.fill(
        'T',
        0,
        Array.from({ length: 30 }, (_, i) => `m${i}`),
      );
    }
    master.committed.set('T@0', 0);
  });

  afterEach(async () => {
    await consumer.stop();
    await master.close();
    await slave.close();
  });

  it('goes to the slave and, when that says so, back', async () => {
    master.suggests = 1;
    const seen = await begin(1);
    await until(() => seen.length === 30, 'all come');
    // The slave of this test suggests the master, which suggests the slave again.
    assert.deepEqual([pulledFrom(master).slice(0, 2), pulledFrom(slave)[0]], [[0, 20], 10]);
  });

  it('goes to the slave with the next id when that one is away', async () => {
    master.suggests = slave.suggests = 1;
    const seen = await begin(2);
    await until(() => seen.length === 30, 'all come');
    assert.deepEqual([pulledFrom(master), pulledFrom(slave).slice(0, 2)], [[0], [10, 20]]);
  });

  it('stays at the master when no slave is near the suggested id', async () => {
    master.suggests = 1;
    const seen = await begin(5);
    await until(() => seen.length === 30, 'all come');
    assert.deepEqual([pulledFrom(master).slice(0, 3), pulledFrom(slave)], [[0, 10, 20], []]);
  });

  it('goes back to the master when the slave does not answer', async () => {
    master.suggests = slave.suggests = 1;
    slave.on(RequestCode.PULL_MESSAGE, 'reset');
    const seen = await begin(1);
    await until(() => seen.length === 10, 'the first come from the master');
    master.suggests = 0;
    await until(() => seen.length === 30, 'all come');
  });
});
