import assert from 'node:assert/strict';
import { Queues } from '../../../plugins/reput/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { RequestCode, SysFlag } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import type { TopicConfig } from '../../../protocol/bodies/topic-config.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, pullAll, send, sendAsk } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

function topic(topicName: string, more: Partial<TopicConfig>): TopicConfig {
  return {
    topicName,
    readQueueNums: 4,
    writeQueueNums: 4,
    perm: 6,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
    ...more,
  };
}

describe('a send and its queue', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  it('takes any of the write queues when its id is negative', async () => {
    await broker.get(Topics).put(topic('Any', { writeQueueNums: 3, readQueueNums: 8 }));
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(client, { topic: 'Any', queueId: -1 })));
    assert.deepEqual([...new Set(answers.map(({ header }) => header.queueId))].sort(), [0, 1, 2]);
    for (const queueId of [0, 1, 2])
      assert.equal(
        Math.max(...answers.map(({ header }) => (header.queueId === queueId ? header.queueOffset : -1))) + 1,
        answers.filter(({ header }) => header.queueId === queueId).length,
      );
  });

  it('may name any queue below the larger of the two counts, as 4.9 checks it; a pull only those for reading', async () => {
    const topics = broker.get(Topics);
    await topics.put(topic('MoreRead', { writeQueueNums: 2, readQueueNums: 6 }));
    await topics.put(topic('MoreWrite', { writeQueueNums: 6, readQueueNums: 2 }));
    for (const name of ['MoreRead', 'MoreWrite']) {
      assert.equal((await send(client, { topic: name, queueId: 5 })).code, 0);
      assert.equal((await send(client, { topic: name, queueId: 6 })).code, 1);
    }
    assert.equal((await pullAll(client, 1, { topic: 'MoreRead', queueId: 5 })).length, 1);
    assert.equal((await pull(client, { topic: 'MoreWrite', queueId: 5 })).code, 1);
  });

  it('has none when the topic has no write queues', async () => {
    await broker.get(Topics).put(topic('ReadOnly', { writeQueueNums: 0, readQueueNums: 2 }));
    const { code, remark } = await send(client, { topic: 'ReadOnly', queueId: -1 });
    assert.equal(code, 1);
    assert.match(String(remark), /topic\[ReadOnly\] has no write queues/);
  });

  it('is made with the topic, after the template: the smaller of two counts', async () => {
    for (const [asked, made] of [
      [1, 1],
      [4, 4],
      [200, 8],
    ] as const) {
      const name = `Made${asked}`;
      assert.equal((await send(client, { topic: name, defaultTopicQueueNums: asked })).code, 0);
      const config = broker.get(Topics).get(name);
      assert.deepEqual([config?.writeQueueNums, config?.readQueueNums, config?.perm], [made, made, 6]);
    }
  });

  it('numbers its messages without gaps, whichever code and header form they came in', async () => {
    const offsets: number[] = [];
    for (const code of [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2])
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
        offsets.push((await send(client, { topic: 'Forms', code, serialize, flag: code })).header.queueOffset);
    assert.deepEqual(offsets, [0, 1, 2, 3]);
    const stored = await pullAll(client, 4, { topic: 'Forms' });
    assert.deepEqual(
      stored.map(({ flag, bornTimestamp, body, properties }) => [flag, bornTimestamp, body.toString(), properties]),
      [10, 10, 310, 310].map((code) => [code, 1_700_000_000_000, 'body', 'CLUSTER\u0001DefaultCluster']),
    );
  });

  it('marks the records of a MULTI_TAG topic', async () => {
    await broker.get(Topics).put(topic('Tags', { topicFilterType: 'MULTI_TAG' }));
    await send(client, { topic: 'Tags', sysFlag: SysFlag.COMPRESSED });
    const [{ sysFlag }] = await pullAll(client, 1, { topic: 'Tags' });
    assert.equal(sysFlag, SysFlag.COMPRESSED | SysFlag.MULTI_TAGS);
  });

  it('stores a one-way message and never answers it', async () => {
    const tell = oneway(client, 'OneWay');
    await until(() => broker.get(Queues).maxOffset('OneWay', 0) === 1, 'it is stored');
    const refused = oneway(client, 'not a topic');
    assert.equal((await send(client, { topic: 'OneWay' })).header.queueOffset, 1);
    assert.deepEqual(client.strays, [], `neither ${tell} nor ${refused} is answered`);
  });

  it('keeps born host, reconsume times and properties', async () => {
    const properties = propertyText({ KEYS: 'k1 k2', TAGS: '标签', emoji: '😀' });
    await send(client, { topic: 'Fields', properties, reconsumeTimes: 3, flag: -5 });
    const [message] = await pullAll(client, 1, { topic: 'Fields' });
    assert.equal(message.bornHost, `127.0.0.1:${client.localPort}`);
    assert.equal(message.storeHost, broker.address);
    assert.deepEqual([message.reconsumeTimes, message.flag], [3, -5]);
    assert.equal(message.properties, `${properties}\u0002CLUSTER\u0001DefaultCluster`);
  });
});

function oneway(client: RawClient, topicName: string): number {
  const { code, ask } = sendAsk({ topic: topicName });
  return client.tell(code, ask);
}
