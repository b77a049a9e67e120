import assert from 'node:assert/strict';
import type { Options } from '../../../config/options.js';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { SlowGroups } from '../../../plugins/pull/slow-groups.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const options: Partial<Options> = {
  disableConsumeIfConsumerReadSlowly: true,
  consumerFallbehindThreshold: 5000,
  slowGroupCheckIntervalMs: 20,
};

async function withBacklog(wish: Partial<Options>, work: (broker: TestBroker) => Promise<void>): Promise<void> {
  await using broker = await testBroker({ options: wish });
  using client = await broker.connect();
  for (let i = 0; i < 10; i++) await send(client, { body: Buffer.alloc(1000) });
  await pullAll(client, 1, { queueOffset: 9, consumerGroup: 'Probe' });
  await work(broker);
}

describe('groups that read too far behind', () => {
  it('are switched off when the broker shall, others are not', async () => {
    await withBacklog(options, async (broker) => {
      using client = await broker.connect();
      assert.equal((await pull(client, { consumerGroup: 'Near', queueOffset: 7 })).code, 0);
      assert.equal((await pull(client, { consumerGroup: 'Far', maxMsgNums: 2 })).code, 0);
      const isOff = (group: string): boolean => broker.get(SubscriptionGroups).find(group)?.consumeEnable === false;
      await until(() => isOff('Far'), 'the group is switched off');
      assert.equal((await pull(client, { consumerGroup: 'Far' })).code, 16);
      assert.equal((await pull(client, { consumerGroup: 'Near', queueOffset: 7 })).code, 0);
      assert.equal(isOff('Near'), false);
      const line = broker.lines.find(({ message }) => message.includes('switched off'));
      assert.deepEqual(
        [line?.fields['consumerGroup'], line?.fields['topic'], line?.fields['thresholdBytes']],
        ['Far', 'T', 5000],
      );
    });
  });

  it('are left alone once they have caught up before anybody looked', async () => {
    await withBacklog(options, async (broker) => {
      using client = await broker.connect();
      const groups = broker.get(SubscriptionGroups);
      const slow = new SlowGroups(broker.options, groups, recordingLogger());
      slow.start();
      for (const group of ['Quick', 'Far']) await pull(client, { consumerGroup: group, queueOffset: 9 });
      // At once: nobody can look between the two.
      slow.saw({ consumerGroup: 'Quick', topic: 'T', queueId: 0 }, 6000);
      slow.saw({ consumerGroup: 'Far', topic: 'T', queueId: 0 }, 6000);
      slow.saw({ consumerGroup: 'Quick', topic: 'T', queueId: 0 }, 5000);
      await until(() => groups.find('Far')?.consumeEnable === false, 'somebody looked');
      slow.close();
      assert.equal(groups.find('Quick')?.consumeEnable, true);
    });
  });
});
