import assert from 'node:assert/strict';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import type { Options } from '../../../config/options.js';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { PullSysFlag } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pull, pullAll, send, subscriptionTo, type PullWish } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

describe('what a pull is answered', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker({ options: { plugins: ['sql92'] } });
    client = await broker.connect();
    for (let i = 0; i < 10; i++) await send(client, { body: Buffer.from(`m${i}`), properties: `TAGS\u0001t${i % 2}` });
    await pullAll(client, 10);
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  /** Code, remark, next, minimum and maximum offset. */
  async function outcome(wish: PullWish): Promise<(number | string | null)[]> {
    const { code, remark, header } = await pull(client, wish);
    return [code, remark, header.nextBeginOffset, header.minOffset, header.maxOffset];
  }

  it('on a slave: a reader keeps the offset that the slave does not have, and commits none there (B11)', async () => {
    const options = broker.options as { -readonly [Name in keyof Options]: Options[Name] };
    const { brokerRole, slaveReadEnable, offsetCheckInSlave } = options;
    const group = broker.get(SubscriptionGroups).find('G')!;
    const asked = async (queueOffset: number): Promise<number[]> => {
      const sysFlag = PullSysFlag.SUBSCRIPTION | PullSysFlag.COMMIT_OFFSET | PullSysFlag.SUSPEND;
      const { code, header } = await pull(client, { queueOffset, commitOffset: 7, sysFlag, suspendTimeoutMillis: 1 });
      return [code, header.nextBeginOffset, header.suggestWhichBrokerId];
    };
    try {
      await broker.get(SubscriptionGroups).put({ ...group, brokerId: 3 });
      Object.assign(options, { brokerRole: 'SLAVE', slaveReadEnable: true });
      assert.deepEqual(await asked(900), [20, 900, 3], 'beyond its end');
      assert.deepEqual(await asked(4), [0, 10, 3], 'within');
      options.offsetCheckInSlave = true;
      assert.deepEqual(await asked(900), [21, 10, 3], 'told to correct');
      Object.assign(options, { slaveReadEnable: false, offsetCheckInSlave: false });
      assert.deepEqual(await asked(900), [20, 900, 0], 'not to be read');
      assert.deepEqual(await asked(4), [20, 10, 0], 'not to be read either');
      assert.equal(broker.get(Offsets).query('G', 'T', 0), -1, 'only a master keeps offsets');
    } finally {
      Object.assign(options, { brokerRole, slaveReadEnable, offsetCheckInSlave });
      await broker.get(SubscriptionGroups).put(group);
    }
  });

  it('FOUND: 0, with the records as they lie in the log, in either header form', async () => {
    for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ]) {
      const { code, remark, header, messages, ...answer } = await pull(client, { queueOffset: 4, serialize });
      assert.deepEqual([code, remark, answer.serialize], [0, 'FOUND', serialize]);
      assert.deepEqual({ ...header }, { suggestWhichBrokerId: 0, nextBeginOffset: 10, minOffset: 0, maxOffset: 10 });
      assert.deepEqual(
        messages.map(({ body, queueOffset }) => [body.toString(), queueOffset]),
        [4, 5, 6, 7, 8, 9].map((i) => [`m${i}`, i]),
      );
    }
  });

  it('OFFSET_OVERFLOW_ONE: 19 at the end', async () => {
    assert.deepEqual(await outcome({ queueOffset: 10 }), [19, 'OFFSET_OVERFLOW_ONE', 10, 0, 10]);
  });

  it('OFFSET_OVERFLOW_BADLY: 21 beyond it, back to the end', async () => {
    assert.deepEqual(await outcome({ queueOffset: 11 }), [21, 'OFFSET_OVERFLOW_BADLY', 10, 0, 10]);
  });

  it('21 leaves an event as 4.9 stores it, for tools that watch', async () => {
    await outcome({ queueOffset: 4711, consumerGroup: 'Lost' });
    const event = async () =>
      (await pull(client, { topic: 'OFFSET_MOVED_EVENT', subscription: 'Lost' })).messages.at(0);
    await until(async () => (await event()) !== undefined, 'the event is visible');
    const message = (await event()) ?? assert.fail();
    assert.equal(
      message.body.toString(),
      '{"consumerGroup":"Lost","messageQueue":{"brokerName":"broker-a","queueId":0,"topic":"T"},"offsetNew":10,"offsetRequest":4711}',
    );
    assert.equal(message.properties, 'KEYS\u0001Lost\u0002TAGS\u0001Lost');
  });

  it('OFFSET_TOO_SMALL: 21 before the beginning, on to it', async () => {
    assert.deepEqual(await outcome({ queueOffset: -1 }), [21, 'OFFSET_TOO_SMALL', 0, 0, 10]);
    const { queueTable } = broker.get(StoreState);
    const row = queueTable.find('T', 0);
    queueTable.set(row, QueueWord.minimum, 3);
    assert.deepEqual(await outcome({ queueOffset: 2 }), [21, 'OFFSET_TOO_SMALL', 3, 3, 10]);
    assert.deepEqual((await outcome({ queueOffset: 3 })).slice(0, 4), [0, 'FOUND', 10, 3]);
    queueTable.set(row, QueueWord.minimum, 0);
  });

  it('NO_MESSAGE_IN_QUEUE: 19 at 0 and 21 elsewhere, and makes no queue', async () => {
    assert.deepEqual(await outcome({ queueId: 3 }), [19, 'NO_MESSAGE_IN_QUEUE', 0, 0, 0]);
    assert.deepEqual(await outcome({ queueId: 3, queueOffset: 7 }), [21, 'NO_MESSAGE_IN_QUEUE', 0, 0, 0]);
    assert.equal(broker.get(StoreState).queueTable.find('T', 3), -1);
  });

  it('NO_MATCHED_MESSAGE: 20, on behind what was looked at', async () => {
    assert.deepEqual(await outcome({ subscription: 'other' }), [20, 'NO_MATCHED_MESSAGE', 10, 0, 10]);
    assert.deepEqual(await outcome({ expressionType: 'SQL92', subscription: "TAGS = 'x'" }), [
      20,
      'NO_MATCHED_MESSAGE',
      10,
      0,
      10,
    ]);
  });

  it('filters by tags, and by properties', async () => {
    const bodies = async (wish: PullWish): Promise<string[]> =>
      (await pull(client, wish)).messages.map(({ body }) => body.toString());
    assert.deepEqual(await bodies({ subscription: 't1' }), ['m1', 'm3', 'm5', 'm7', 'm9']);
    assert.equal((await bodies({ subscription: 't1 || t0' })).length, 10);
    assert.equal((await bodies({ subscription: '' })).length, 10);
    assert.deepEqual(await bodies({ expressionType: 'SQL92', subscription: "TAGS = 't0'", queueOffset: 5 }), [
      'm6',
      'm8',
    ]);
  });

  it('ends with the offset behind the last one looked at when a filter and maxMsgNums meet', async () => {
    const { messages, header } = await pull(client, { subscription: 't1', maxMsgNums: 2 });
    assert.deepEqual(
      messages.map(({ queueOffset }) => queueOffset),
      [1, 3],
    );
    assert.equal(header.nextBeginOffset, 4);
    const byRecord = await pull(client, { expressionType: 'SQL92', subscription: "TAGS = 't1'", maxMsgNums: 2 });
    assert.deepEqual(
      byRecord.messages.map(({ queueOffset }) => queueOffset),
      [1, 3],
    );
    assert.equal(byRecord.header.nextBeginOffset, 4);
  });
});

describe('a pull is refused', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker({ options: { plugins: ['sql92'] } });
    client = await broker.connect();
    await send(client);
    await heartbeat(client, 'Member', [subscriptionTo('T', { subVersion: 5 })]);
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  const cases: readonly (readonly [name: string, wish: PullWish, code: number, remark: RegExp])[] = [
    ['for an unknown topic', { topic: 'Unknown' }, 17, /^topic\[Unknown\] not exist, apply first please!/],
    [
      'for a negative queue',
      { queueId: -1 },
      1,
      /^queueId\[-1\] is illegal, topic:\[T\] topicConfig.readQueueNums:\[4\] consumer:\[/,
    ],
    ['for a queue too many', { queueId: 4 }, 1, /^queueId\[4\] is illegal/],
    [
      'for an expression of its own that is wrong',
      { expressionType: 'SQL92', subscription: 'a = ' },
      23,
      /^parse the consumer's subscription failed: expected a property, a literal or \(, found the end of the expression at position 4$/,
    ],
    [
      'for a filter that is not there',
      { expressionType: 'XPATH', subscription: 'a' },
      1,
      /^The broker does not support consumer to filter message by XPATH/,
    ],
    [
      'without a member in its group',
      { sysFlag: 0, consumerGroup: 'Empty' },
      24,
      /^the consumer's group info not exist/,
    ],
    [
      'without the subscription',
      { sysFlag: 0, consumerGroup: 'Member', topic: 'TBW102' },
      24,
      /^the consumer's subscription not exist/,
    ],
    [
      'with a subscription newer than the one known',
      { sysFlag: 0, consumerGroup: 'Member', subVersion: 6 },
      25,
      /^the consumer's subscription not latest/,
    ],
  ];

  for (const [name, wish, code, remark] of cases)
    it(`${name}: ${code}`, async () => {
      const answer = await pull(client, wish);
      assert.equal(answer.code, code);
      assert.match(String(answer.remark), remark);
      assert.equal(answer.body.length, 0);
    });

  it('not with a subscription as new as the one known, or older', async () => {
    for (const subVersion of [5, 4, 0])
      assert.equal((await pull(client, { sysFlag: 0, consumerGroup: 'Member', subVersion })).code, 0);
  });

  it('for a registered expression that is wrong: 27', async () => {
    await heartbeat(client, 'Wrong', [subscriptionTo('T', { expressionType: 'SQL92', subString: 'a = ' })]);
    const { code, remark } = await pull(client, { sysFlag: 0, consumerGroup: 'Wrong' });
    assert.equal(code, 27);
    assert.match(String(remark), /^The broker's consumer filter data is not exist!Your expression may be wrong!/);
  });

  it('for a group that may not consume, or not by broadcast: 16', async () => {
    const table = broker.get(SubscriptionGroups);
    await table.put({ ...table.find('Off')!, consumeEnable: false });
    const off = await pull(client, { consumerGroup: 'Off' });
    assert.deepEqual([off.code, off.remark], [16, 'subscription group no permission, Off']);
    await heartbeat(client, 'Radio', [subscriptionTo('T')], { messageModel: 'BROADCASTING' });
    assert.equal((await pull(client, { sysFlag: 0, consumerGroup: 'Radio' })).code, 0);
    await table.put({ ...table.find('Radio')!, consumeBroadcastEnable: false });
    const radio = await pull(client, { sysFlag: 0, consumerGroup: 'Radio' });
    assert.deepEqual([radio.code, radio.remark], [16, 'the consumer group[Radio] can not consume by broadcast way']);
  });

  it('for a topic that may not be read: 16', async () => {
    await send(client, { topic: 'Secret' });
    await broker.get(Topics).put({ ...broker.get(Topics).get('Secret')!, perm: 2 });
    const { code, remark } = await pull(client, { topic: 'Secret' });
    assert.deepEqual([code, remark], [16, 'the topic[Secret] pulling message is forbidden']);
  });

  it('for a missing field: 1, naming it', async () => {
    const { code, remark } = await client.ask(11, { ext: { consumerGroup: 'G', topic: 'T' } });
    assert.equal(code, 1);
    assert.match(String(remark), /queueId/);
  });

  it('by a broker that may not be read: 16, and for groups that may not be made: 26', async () => {
    await using closed = await testBroker({ options: { brokerPermission: 2 } });
    using other = await closed.connect();
    const refused = await pull(other);
    assert.deepEqual([refused.code, refused.remark], [16, 'the broker[127.0.0.1] pulling message is forbidden']);
    await using strict = await testBroker({ options: { autoCreateSubscriptionGroup: false } });
    using third = await strict.connect();
    const unknown = await pull(third, { consumerGroup: 'Nobody' });
    assert.equal(unknown.code, 26);
    assert.match(String(unknown.remark), /^subscription group \[Nobody\] does not exist/);
  });

  it('for SQL92 when the plugin is not loaded: 1', async () => {
    await using plain = await testBroker();
    using other = await plain.connect();
    await send(other);
    const { code, remark } = await pull(other, { expressionType: 'SQL92', subscription: 'a = 1' });
    assert.equal(code, 1);
    assert.match(String(remark), /does not support consumer to filter message by SQL92/);
  });
});
