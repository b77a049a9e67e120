import assert from 'node:assert/strict';
import { AdminClient, ClientError } from '../../client/index.js';
import { encodeConsumeStats } from '../../protocol/bodies/consume-stats.js';
import { encodeKVTable } from '../../protocol/bodies/kv-table.js';
import { encodeClusterInfo } from '../../protocol/bodies/route.js';
import { encodeTopicStatsTable } from '../../protocol/bodies/topic-stats.js';
import { RequestCode } from '../../protocol/codes.js';
import { createOffsetMessageId } from '../../protocol/message/message-id.js';
import { FakeBroker } from './support/fake-broker.js';

const ok = { code: 0 };

function failsWith(code: string, pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ClientError && error.code === code && pattern.test(error.line());
}

describe('AdminClient', () => {
  let a: FakeBroker;
  let b: FakeBroker;
  let admin: AdminClient;

  const clusters = (clusters: Record<string, string[]>): void => {
    const brokers = new Map(
      [a, b].map(({ brokerName, address }) => [
        brokerName,
        { cluster: 'C', brokerName, brokerAddrs: new Map([[0, address]]) },
      ]),
    );
    const body = encodeClusterInfo({ brokerAddrTable: brokers, clusterAddrTable: new Map(Object.entries(clusters)) });
    a.on(RequestCode.GET_BROKER_CLUSTER_INFO, { ...ok, body });
  };

  beforeEach(async () => {
    a = await FakeBroker.start('broker-a');
    b = await FakeBroker.start('broker-b');
    a.others.push(b);
    admin = new AdminClient({ namesrvAddr: a.address });
  });

  afterEach(async () => {
    await admin.close();
    await Promise.all([a.close(), b.close()]);
  });

  it('creates a topic on all masters of the cluster', async () => {
    for (const broker of [a, b]) broker.on(RequestCode.UPDATE_AND_CREATE_TOPIC, ok);
    clusters({ C: ['broker-a', 'broker-b'] });
    await admin.createTopic('New', { readQueues: 3, writeQueues: 2, perm: 4 });
    for (const broker of [a, b])
      assert.deepEqual(
        broker.asked(RequestCode.UPDATE_AND_CREATE_TOPIC).map(({ ext }) => ({ ...ext })),
        [
          {
            topic: 'New',
            defaultTopic: 'TBW102',
            readQueueNums: '3',
            writeQueueNums: '2',
            perm: '4',
            topicFilterType: 'SINGLE_TAG',
            topicSysFlag: '0',
            order: 'false',
          },
        ],
      );
    await assert.rejects(admin.createTopic('a/b'), failsWith('ILLEGAL_ARGUMENT', /a\/b/));
  });

  it('asks which cluster when there are several, or none', async () => {
    clusters({ C1: ['broker-a'], C2: ['broker-b'] });
    b.on(RequestCode.UPDATE_AND_CREATE_TOPIC, ok);
    await assert.rejects(admin.createTopic('New'), failsWith('ILLEGAL_ARGUMENT', /2 clusters: C1, C2/));
    await admin.createTopic('New', { cluster: 'C2' });
    assert.equal(b.asked(RequestCode.UPDATE_AND_CREATE_TOPIC).length, 1);
    await assert.rejects(admin.createTopic('New', { cluster: 'C3' }), failsWith('NO_BROKER', /C3/));
    clusters({});
    await assert.rejects(admin.createTopic('New'), failsWith('ILLEGAL_ARGUMENT', /none.*start a broker/));
  });

  it('joins the figures of all brokers of a topic', async () => {
    for (const broker of [a, b]) {
      broker.topics.set('T', { queues: 1 });
      const queue = { topic: 'T', brokerName: broker.brokerName, queueId: 0 };
      const offset = { minOffset: 1, maxOffset: 5, lastUpdateTimestamp: 9 };
      broker.on(RequestCode.GET_TOPIC_STATS_INFO, {
        ...ok,
        body: encodeTopicStatsTable({ offsetTable: [[queue, offset]] }),
      });
    }
    const stats = await admin.topicStats('T');
    assert.deepEqual(stats.map(([queue, { maxOffset }]) => [queue.brokerName, maxOffset]).sort(), [
      ['broker-a', 5],
      ['broker-b', 5],
    ]);
    await assert.rejects(admin.topicStats('Nowhere'), failsWith('NO_ROUTE', /Nowhere/));
    assert.equal(await admin.topicRoute('Nowhere'), undefined);
  });

  it('finds the progress of a group by its retry topic, else by the topic', async () => {
    a.topics.set('T', { queues: 1 });
    const queue = { topic: 'T', brokerName: 'broker-a', queueId: 0 };
    const offset = { brokerOffset: 10, consumerOffset: 4, lastTimestamp: 1 };
    const body = encodeConsumeStats({ offsetTable: [[queue, offset]], consumeTps: 1.5 });
    a.on(RequestCode.GET_CONSUME_STATS, { ...ok, body });
    await assert.rejects(admin.consumeStats('G'), failsWith('NO_ROUTE', /%RETRY%G/));
    assert.deepEqual(await admin.consumeStats('G', 'T'), { offsets: [[queue, offset]], tps: 1.5 });
    a.topics.set('%RETRY%G', { queues: 1 });
    assert.equal((await admin.consumeStats('G')).tps, 1.5);
    assert.deepEqual(
      a.asked(RequestCode.GET_CONSUME_STATS).map(({ ext }) => ext['topic']),
      ['T', undefined],
    );
  });

  it('fetches a message by its offset id from the broker that the id names', async () => {
    b.fill('T', 3, ['hello'], 'UNIQ_KEY\u0001U1\u0002TAGS\u0001t');
    const [record] = b.queue('T', 3).records;
    b.on(RequestCode.VIEW_MESSAGE_BY_ID, (request) => {
      assert.equal(request.ext['offset'], '1000');
      return { ...ok, body: record! };
    });
    const id = createOffsetMessageId(Buffer.from([127, 0, 0, 1]), b.server.port, 1000);
    const message = await admin.viewMessage(id);
    assert.deepEqual(
      [message.body.toString(), message.msgId, message.tag, message.offsetMsgId],
      ['hello', 'U1', 't', id],
    );
    await assert.rejects(admin.viewMessage('xyz'), failsWith('ILLEGAL_ARGUMENT', /xyz/));
  });

  it('asks for offsets and runtime figures', async () => {
    a.topics.set('T', { queues: 1 });
    a.queue('T', 0).min = 3;
    a.fill('T', 0, ['x', 'y']);
    a.on(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, { ...ok, ext: { offset: '4' } });
    a.on(RequestCode.GET_BROKER_RUNTIME_INFO, { ...ok, body: encodeKVTable(new Map([['putTps', '1 2 3']])) });
    const queue = { topic: 'T', brokerName: 'broker-a', queueId: 0 };
    const offsets = [await admin.minOffset(queue), await admin.maxOffset(queue), await admin.searchOffset(queue, 1)];
    assert.deepEqual(offsets, [3, 5, 4]);
    assert.equal((await admin.brokerRuntimeInfo(a.address)).get('putTps'), '1 2 3');
    await assert.rejects(admin.maxOffset({ ...queue, brokerName: 'gone' }), failsWith('NO_BROKER', /gone/));
  });
});
