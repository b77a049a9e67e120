import assert from 'node:assert/strict';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeConsumeStats, decodeConsumeStatsList } from '../../../protocol/bodies/consume-stats.js';
import { decodeGroupList } from '../../../protocol/bodies/group-list.js';
import { decodeTopicStatsTable } from '../../../protocol/bodies/topic-stats.js';
import { FakeClock } from '../../support/fake-clock.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pullAll, send, subscriptionTo } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

describe('statistics of topics and groups', () => {
  const clock = new FakeClock();
  const begun = clock.wallMs();
  let broker: TestBroker;
  let client: RawClient;

  /** T has 4 queues; 0 has three messages and 1 has one, stored 100 ms after each other. */
  before(async () => {
    broker = await testBroker({ clock });
    client = await broker.connect();
    for (const queueId of [0, 0, 0, 1]) {
      await send(client, { queueId });
      clock.advance(100);
    }
    await send(client, { topic: 'U' });
    await pullAll(client, 3);
    await pullAll(client, 1, { topic: 'U' });
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  it('202: every write queue, empty ones too', async () => {
    const { code, body } = await client.ask(RequestCode.GET_TOPIC_STATS_INFO, { ext: { topic: 'T' } });
    assert.equal(code, 0);
    const table = decodeTopicStatsTable(body)
      .offsetTable.map(([queue, offset]) => [queue.topic, queue.brokerName, queue.queueId, ...Object.values(offset)])
      .sort((a, b) => Number(a[2]) - Number(b[2]));
    assert.deepEqual(table, [
      ['T', 'broker-a', 0, 0, 3, begun + 200],
      ['T', 'broker-a', 1, 0, 1, begun + 300],
      ['T', 'broker-a', 2, 0, 0, 0],
      ['T', 'broker-a', 3, 0, 0, 0],
    ]);
  });

  it('202: 17 for an unknown topic', async () => {
    const { code, remark } = await client.ask(RequestCode.GET_TOPIC_STATS_INFO, { ext: { topic: 'Unknown' } });
    assert.deepEqual([code, remark], [17, 'topic[Unknown] not exist']);
  });

  /** Queue id, broker offset, consumer offset, time of the last consumed message; those of T. */
  async function progress(ext: Record<string, string>): Promise<(number | string)[][]> {
    const { code, body } = await client.ask(RequestCode.GET_CONSUME_STATS, { ext });
    assert.equal(code, 0);
    return decodeConsumeStats(body)
      .offsetTable.map(([{ topic, queueId }, { brokerOffset, consumerOffset, lastTimestamp }]) => [
        topic,
        queueId,
        brokerOffset,
        consumerOffset,
        lastTimestamp,
      ])
      .sort((a, b) => (`${a[0]}${a[1]}` < `${b[0]}${b[1]}` ? -1 : 1));
  }

  it('208: how far a group has come, in the topics it has offsets of', async () => {
    const offsets = broker.get(Offsets);
    offsets.commit('test', 'G1', 'T', 0, 2);
    offsets.commit('test', 'G1', 'Gone', 0, 5);
    const expected = [
      ['T', 0, 3, 2, begun + 100],
      ['T', 1, 1, 0, 0],
      ['T', 2, 0, 0, 0],
      ['T', 3, 0, 0, 0],
    ];
    assert.deepEqual(await progress({ consumerGroup: 'G1' }), expected);
    assert.deepEqual(await progress({ consumerGroup: 'G1', topic: 'T' }), expected);
    assert.equal((await progress({ consumerGroup: 'G1', topic: 'U' })).length, 4);
    assert.deepEqual(await progress({ consumerGroup: 'G1', topic: 'Unknown' }), []);
    assert.deepEqual(await progress({ consumerGroup: 'Nobody' }), []);
  });

  it('208: while members are there, only topics they subscribe to', async () => {
    broker.get(Offsets).commit('test', 'G2', 'T', 0, 1);
    broker.get(Offsets).commit('test', 'G2', 'U', 0, 1);
    assert.equal((await progress({ consumerGroup: 'G2' })).length, 8);
    await heartbeat(client, 'G2', [subscriptionTo('U')]);
    assert.deepEqual([...new Set((await progress({ consumerGroup: 'G2' })).map(([topic]) => topic))].sort(), ['U']);
  });

  it('208: offsets outlive their topic, and stand beyond the end of the one made anew', async () => {
    await send(client, { topic: 'Again', queueId: 0 });
    await pullAll(client, 1, { topic: 'Again' });
    broker.get(Offsets).commit('test', 'G3', 'Again', 0, 1);
    assert.equal((await client.ask(RequestCode.DELETE_TOPIC_IN_BROKER, { ext: { topic: 'Again' } })).code, 0);
    assert.deepEqual(await progress({ consumerGroup: 'G3' }), []);
    assert.equal(broker.get(Offsets).query('G3', 'Again', 0), 1);
    await send(client, { topic: 'Again', queueId: 1 });
    await pullAll(client, 1, { topic: 'Again', queueId: 1 });
    const [first] = await progress({ consumerGroup: 'G3' });
    assert.deepEqual(first, ['Again', 0, 0, 1, 0]);
  });

  it('317: all groups that there are, by topic, with what they are behind', async () => {
    for (const group of ['B1', 'B2']) broker.get(SubscriptionGroups).find(group);
    broker.get(Offsets).commit('test', 'B1', 'T', 0, 2);
    broker.get(Offsets).commit('test', 'NoGroup', 'T', 0, 2);
    const ask = async (isOrder: boolean) => {
      const { code, body } = await client.ask(317, { ext: { isOrder: String(isOrder) } });
      assert.equal(code, 0);
      return decodeConsumeStatsList(body);
    };
    const { consumeStatsList, brokerAddr, totalDiff } = await ask(false);
    assert.equal(brokerAddr, `127.0.0.1:${broker.port}`);
    const groups = new Map(consumeStatsList.flatMap((each) => [...each]));
    assert.ok(groups.has('TOOLS_CONSUMER') && !groups.has('NoGroup'));
    assert.deepEqual(groups.get('B2'), []);
    const [stats, ...more] = groups.get('B1') ?? [];
    assert.deepEqual(more, []);
    assert.deepEqual(
      stats?.offsetTable.map(([{ queueId }, { brokerOffset, consumerOffset }]) => [
        queueId,
        brokerOffset,
        consumerOffset,
      ]),
      [
        [0, 3, 2],
        [1, 1, 0],
        [2, 0, 0],
        [3, 0, 0],
      ],
    );
    const all = [...groups.values()].flat().flatMap(({ offsetTable }) => offsetTable);
    assert.equal(
      totalDiff,
      all.reduce((sum, [, { brokerOffset, consumerOffset }]) => sum + brokerOffset - consumerOffset, 0),
    );
    assert.deepEqual(
      new Set((await ask(true)).consumeStatsList.flatMap((each) => [...each.values()]).flat()),
      new Set(),
    );
  });

  it('300: groups that subscribe to a topic, and those that have offsets of it', async () => {
    broker.get(Offsets).commit('test', 'Past', 'U', 0, 1);
    await heartbeat(client, 'Now', [subscriptionTo('U')]);
    const groupsOf = async (topic: string): Promise<string[]> => {
      const { code, body } = await client.ask(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, { ext: { topic } });
      assert.equal(code, 0);
      return [...decodeGroupList(body).groupList].sort();
    };
    assert.deepEqual(await groupsOf('U'), ['G2', 'Now', 'Past']);
    assert.deepEqual(await groupsOf('Unknown'), []);
  });
});
