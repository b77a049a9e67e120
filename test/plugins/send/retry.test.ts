import assert from 'node:assert/strict';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { Version } from '../../../protocol/codes.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pullAll, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

const OLD = Version.V3_4_9 - 1;

describe('a send to a retry topic', () => {
  let broker: TestBroker;
  let client: RawClient;
  let groups = 0;
  let group = '';

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  beforeEach(() => {
    group = `G${groups++}`;
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  /** Where the message went: 'retry' or 'dlq'. */
  async function goes(wish: Parameters<typeof send>[1], to = group): Promise<string> {
    const answer = await send(client, { topic: `%RETRY%${to}`, ...wish });
    assert.equal(answer.code, 0, String(answer.remark));
    const [dlq, retry] = [`%DLQ%${to}`, `%RETRY%${to}`].map((topic) => broker.get(Topics).get(topic));
    assert.ok(retry);
    return dlq === undefined ? 'retry' : 'dlq';
  }

  for (const [name, wish, to] of [
    ['no limit of its own, 15 of 16 times', { reconsumeTimes: 15 }, 'retry'],
    ['no limit of its own, 16 times', { reconsumeTimes: 16 }, 'dlq'],
    ['no count at all', {}, 'retry'],
    ['its own limit not reached', { reconsumeTimes: 20, maxReconsumeTimes: 21 }, 'retry'],
    ['its own limit reached', { reconsumeTimes: 2, maxReconsumeTimes: 2 }, 'dlq'],
    ['its own limit of 0', { reconsumeTimes: 0, maxReconsumeTimes: 0 }, 'dlq'],
    [
      'its own limit, from a client that is too old for it',
      { reconsumeTimes: 2, maxReconsumeTimes: 2, version: OLD },
      'retry',
    ],
    ['the group limit, from an old client', { reconsumeTimes: 16, maxReconsumeTimes: 99, version: OLD }, 'dlq'],
  ] as const)
    it(`with ${name} goes to the ${to} topic (B23)`, async () => assert.equal(await goes(wish), to));

  it("goes by the group's own limit", async () => {
    const table = broker.get(SubscriptionGroups);
    await table.put({ ...table.find(group)!, retryMaxTimes: 2 });
    assert.equal(await goes({ reconsumeTimes: 1 }), 'retry');
    assert.equal(await goes({ reconsumeTimes: 2 }), 'dlq');
  });

  it('becomes a dead letter at once, whatever delay it had, with its properties (B19)', async () => {
    const properties = propertyText({ DELAY: '18', RETRY_TOPIC: 'T', ORIGIN_MESSAGE_ID: 'ABC', UNIQ_KEY: 'U' });
    assert.equal(await goes({ queueId: 3, reconsumeTimes: 1, maxReconsumeTimes: 1, properties }), 'dlq');
    const topic = `%DLQ%${group}`;
    const [letter] = await pullAll(client, 1, { topic, consumerGroup: group });
    assert.deepEqual([letter.topic, letter.queueId, letter.queueOffset], [topic, 0, 0]);
    assert.equal(letter.reconsumeTimes, 1);
    // As 4.9.7 stores it, DELAY included; nothing reads it again.
    assert.deepEqual(Object.fromEntries(parseProperties(letter.properties)), {
      DELAY: '18',
      RETRY_TOPIC: 'T',
      ORIGIN_MESSAGE_ID: 'ABC',
      UNIQ_KEY: 'U',
      CLUSTER: 'DefaultCluster',
    });
    const config = broker.get(Topics).get(topic);
    assert.deepEqual([config?.readQueueNums, config?.writeQueueNums, config?.perm], [1, 1, 6], 'readable (B23)');
  });

  it('keeps its queue while it stays a retry', async () => {
    await goes({ queueId: 0, body: Buffer.from('again'), reconsumeTimes: 5 });
    const [message] = await pullAll(client, 1, { topic: `%RETRY%${group}`, consumerGroup: group });
    assert.deepEqual([message.body.toString(), message.reconsumeTimes], ['again', 5]);
  });
});
