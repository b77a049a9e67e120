import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import {
  defaultSubscriptionGroup,
  encodeSubscriptionGroupConfig,
  type SubscriptionGroupConfig,
} from '../../protocol/bodies/subscription-group.js';
import { PullSysFlag, RequestCode } from '../../protocol/codes.js';
import { encodeQueryConsumerOffset } from '../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateAndCreateTopic } from '../../protocol/headers/update-and-create-topic.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, pull, send, subscriptionTo, type PullWish } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { patienceMs } from './support/suite.js';
import { startTarget, type Target, type TargetKind } from './support/target.js';

const TOPIC = 'Answers';
const NOTHING_OF_ITS_OWN = 0;

/** What both brokers are asked, and what came back without what only one of them has: ports, and links to pages. */
async function answer(client: RawClient, wish: PullWish): Promise<unknown> {
  const { code, remark, header, messages } = await pull(client, { topic: TOPIC, ...wish });
  const text = (remark ?? '').replace(/\/?127\.0\.0\.1:\d+/, 'ADDRESS').replace(/[\n ]*See http.*/s, '');
  return { code, remark: text, ...header, offsets: messages.map(({ queueOffset }) => queueOffset) };
}

async function putGroup(client: RawClient, config: Partial<SubscriptionGroupConfig> & { groupName: string }) {
  const body = encodeSubscriptionGroupConfig({ ...defaultSubscriptionGroup(config.groupName), ...config });
  assert.equal((await client.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, { body })).code, 0);
}

async function putTopic(client: RawClient, topic: string, perm: number): Promise<void> {
  const ext = encodeUpdateAndCreateTopic({
    ...{ topic, defaultTopic: 'TBW102', readQueueNums: 4, writeQueueNums: 4, perm },
    ...{ topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false },
  });
  assert.equal((await client.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, { ext })).code, 0);
}

/** 40 small messages in queue 0, five of 30 KiB in queue 1, none in queue 2. */
async function fill(client: RawClient): Promise<void> {
  await putTopic(client, TOPIC, 6);
  await putTopic(client, 'Secret', 2);
  for (let i = 0; i < 40; i++) {
    const properties = `TAGS\u0001${i % 10 === 0 ? 'tenth' : 'other'}`;
    assert.equal((await send(client, { topic: TOPIC, queueId: 0, properties })).code, 0);
  }
  for (let i = 0; i < 5; i++)
    assert.equal((await send(client, { topic: TOPIC, queueId: 1, body: Buffer.alloc(30_000) })).code, 0);
  await until(
    async () => {
      const ends = await Promise.all(
        [39, 4].map((queueOffset, queueId) => pull(client, { topic: TOPIC, queueId, queueOffset })),
      );
      return ends.every(({ messages }) => messages.length === 1);
    },
    'all are visible',
    patienceMs,
  );
}

const scenarios: Record<string, (client: RawClient) => Promise<unknown>> = {
  'far behind, at the end, beyond it, and in an empty queue: which broker the group is sent to': async (client) => {
    await putGroup(client, { groupName: 'Sent', brokerId: 5, whichBrokerWhenConsumeSlowly: 9 });
    const asked: PullWish[] = [{}, { queueOffset: 39 }, { queueOffset: 40 }, { queueOffset: 41 }, { queueOffset: -1 }];
    asked.push({ queueId: 2 }, { queueId: 2, queueOffset: 7 }, { subscription: 'nobody' });
    const answers = [];
    for (const wish of asked) answers.push(await answer(client, { ...wish, consumerGroup: 'Sent' }));
    return answers;
  },
  'how many messages of the disk there are in one answer': async (client) => {
    const answers = [];
    for (const maxMsgNums of [32, 5, 1, 0, 1000]) answers.push(await answer(client, { maxMsgNums }));
    for (const subscription of ['tenth', 'tenth || nobody', 'TAGS', ''])
      answers.push(await answer(client, { subscription }));
    answers.push(await answer(client, { queueId: 1 }), await answer(client, { queueId: 1, queueOffset: 3 }));
    return answers;
  },
  'a group that may not consume': async (client) => {
    await putGroup(client, { groupName: 'Off', consumeEnable: false });
    return [
      await answer(client, { consumerGroup: 'Off' }),
      await answer(client, { consumerGroup: 'Off', topic: 'No' }),
    ];
  },
  'a group that may not consume by broadcast': async (client) => {
    await putGroup(client, { groupName: 'Radio', consumeBroadcastEnable: false });
    await heartbeat(client, 'Radio', [subscriptionTo(TOPIC)], { messageModel: 'BROADCASTING' });
    const radio = { consumerGroup: 'Radio', sysFlag: NOTHING_OF_ITS_OWN };
    const refused = [
      await answer(client, radio),
      await answer(client, { ...radio, sysFlag: PullSysFlag.SUBSCRIPTION }),
    ];
    await heartbeat(client, 'Radio', [subscriptionTo(TOPIC)], { messageModel: 'CLUSTERING' });
    return [...refused, await answer(client, radio)];
  },
  'a group that may not consume from the beginning: 4.9 does not look at it': async (client) => {
    await putGroup(client, { groupName: 'Late', consumeFromMinEnable: false });
    await heartbeat(client, 'Late', [subscriptionTo(TOPIC)]);
    const ext = encodeQueryConsumerOffset({ consumerGroup: 'Late', topic: TOPIC, queueId: 0 });
    const { code } = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext });
    return [code, await answer(client, { consumerGroup: 'Late', sysFlag: NOTHING_OF_ITS_OWN })];
  },
  'a held pull whose group is switched off meanwhile': async (client) => {
    await putGroup(client, { groupName: 'Held' });
    const sysFlag = PullSysFlag.SUBSCRIPTION | PullSysFlag.SUSPEND;
    const held = answer(client, { consumerGroup: 'Held', queueId: 3, sysFlag });
    await putGroup(client, { groupName: 'Held', consumeEnable: false });
    await send(client, { topic: TOPIC, queueId: 3 });
    return held;
  },
  'what is missing or forbidden': async (client) => {
    await heartbeat(client, 'Member', [subscriptionTo(TOPIC, { subVersion: 5 })]);
    const asked: PullWish[] = [
      { topic: 'Unknown' },
      { topic: 'Secret' },
      { queueId: 4 },
      { queueId: -1 },
      { consumerGroup: 'Nobody', sysFlag: NOTHING_OF_ITS_OWN },
      { consumerGroup: 'Member', sysFlag: NOTHING_OF_ITS_OWN, topic: 'TBW102' },
      { consumerGroup: 'Member', sysFlag: NOTHING_OF_ITS_OWN, subVersion: 6 },
      { consumerGroup: 'Member', sysFlag: NOTHING_OF_ITS_OWN, subVersion: 5 },
    ];
    const answers = [];
    for (const wish of asked) answers.push(await answer(client, wish));
    return answers;
  },
  'the offset that a pull brings': async (client) => {
    const committed = async (): Promise<unknown> => {
      const ext = encodeQueryConsumerOffset({ consumerGroup: 'Brings', topic: TOPIC, queueId: 0 });
      const { code, ext: got } = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext });
      return [code, got['offset']];
    };
    const bring = (wish: PullWish): Promise<unknown> => answer(client, { consumerGroup: 'Brings', ...wish });
    const sysFlag = PullSysFlag.SUBSCRIPTION | PullSysFlag.COMMIT_OFFSET;
    const results = [await bring({ commitOffset: 3 }), await committed()];
    results.push(await bring({ commitOffset: 7, sysFlag }), await committed());
    results.push(await bring({ commitOffset: 9, sysFlag, queueId: 99 }), await committed());
    results.push(await bring({ commitOffset: 11, sysFlag, queueOffset: 40 }), await committed());
    return results;
  },
};

/** Everything lies "on disk", since no memory is granted, so that a few messages make a slow consumer. */
describe('pulls that both brokers are asked', function () {
  this.timeout(120_000);
  const kinds: TargetKind[] = ['kernel', 'jvm'];
  const options = { slaveReadEnable: true, accessMessageInMemoryMaxRatio: 0, enablePropertyFilter: true };
  let targets: Target[] = [];
  let clients: RawClient[] = [];

  before(async () => {
    targets = await Promise.all(kinds.map((kind) => startTarget({ kind, options })));
    clients = await Promise.all(targets.map(({ broker }) => RawClient.connect(broker)));
    await Promise.all(clients.map(fill));
  });
  after(async () => {
    for (const client of clients) client[Symbol.dispose]();
    await Promise.all(targets.map((target) => target.stop()));
  });

  for (const [name, scenario] of Object.entries(scenarios))
    it(name, async () => {
      const [ours, theirs] = await Promise.all(clients.map(scenario));
      assert.deepEqual(ours, theirs);
    });
});
