import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { received } from '../../client/received.js';
import { compareQueues, readableQueues, writableQueues } from '../../client/transport/message-queue.js';
import { NameServers } from '../../client/transport/name-servers.js';
import { Routes } from '../../client/transport/routes.js';
import { Transport } from '../../client/transport/transport.js';
import { systemClock } from '../../kernel/base/clock.js';
import { silentLogger } from '../../kernel/base/logger.js';
import { decodeTopicRouteData, type TopicRouteData } from '../../protocol/bodies/route.js';
import { RequestCode, SysFlag } from '../../protocol/codes.js';
import { Serialize } from '../../protocol/command.js';
import type { StoredMessage } from '../../protocol/message/record.js';
import { FakeBroker } from './support/fake-broker.js';

const route = (text: string): TopicRouteData => decodeTopicRouteData(text);

describe('client queues', () => {
  const two = route(`{
    "brokerDatas":[
      {"brokerAddrs":{"0":"h:1","1":"h:2"},"brokerName":"b2","cluster":"C"},
      {"brokerAddrs":{0:"h:3"},"brokerName":"b1","cluster":"C"},
      {"brokerAddrs":{1:"h:4"},"brokerName":"slaves","cluster":"C"}],
    "queueDatas":[
      {"brokerName":"b2","perm":6,"readQueueNums":3,"writeQueueNums":2,"topicSysFlag":0},
      {"brokerName":"b1","perm":2,"readQueueNums":1,"writeQueueNums":1,"topicSysFlag":0},
      {"brokerName":"slaves","perm":6,"readQueueNums":1,"writeQueueNums":1,"topicSysFlag":0}]}`);
  const names = (queues: readonly { brokerName: string; queueId: number }[]): string[] =>
    queues.map(({ brokerName, queueId }) => `${brokerName}:${queueId}`);

  it('are written by permission, on brokers with a master, in order of their names', () => {
    assert.deepEqual(names(writableQueues('T', two)), ['b1:0', 'b2:0', 'b2:1']);
  });

  it('are read by permission, by the number of read queues, on slaves too', () => {
    assert.deepEqual(names(readableQueues('T', two)), ['b2:0', 'b2:1', 'b2:2', 'slaves:0']);
  });

  it('are fixed by an order configuration', () => {
    assert.deepEqual(names(writableQueues('T', { ...two, orderTopicConf: 'x:2;y:1' })), ['x:0', 'x:1', 'y:0']);
  });

  it('sort as in Java: topic, broker name, then queue id as a number', () => {
    const queue = (topic: string, brokerName: string, queueId: number) => ({ topic, brokerName, queueId });
    const sorted = [queue('a', 'b', 2), queue('a', 'b', 10), queue('a', 'ba', 1), queue('b', 'a', 0)];
    assert.deepEqual([...sorted].reverse().sort(compareQueues), sorted);
  });
});

describe('client routes', () => {
  it('are asked for once at a time, kept, refreshed, and told of when they change', async () => {
    const broker = await FakeBroker.start();
    const transport = new Transport({ clock: systemClock, logger: silentLogger, serialize: Serialize.JSON });
    const routes = new Routes(new NameServers(broker.address, transport, silentLogger), silentLogger);
    const asked = (): number => broker.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC).length;
    const changes: string[] = [];
    routes.onChange((topic) => changes.push(topic));

    assert.equal(await routes.find('T'), undefined);
    broker.topics.set('T', { queues: 2 });
    await routes.refreshAll(true);
    assert.deepEqual(changes, ['T']);
    await Promise.all([routes.refresh('T'), routes.refresh('T'), routes.find('T')]);
    assert.equal(asked(), 3);
    assert.equal(broker.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC)[0]!.ext['acceptStandardJsonOnly'], 'true');
    await routes.refreshAll(true);
    assert.equal(asked(), 3, 'only missing ones');
    broker.topics.set('T', { queues: 4 });
    await routes.refreshAll(false);
    assert.deepEqual(changes, ['T', 'T']);
    broker.topics.delete('T');
    assert.notEqual(await routes.refresh('T'), undefined, 'the last route is kept');
    assert.equal(routes.brokerAddress('broker-a')?.address, broker.address);
    assert.equal(routes.brokerAddress('broker-a', 1), undefined);
    assert.equal(routes.brokerAddress('broker-a', 1, false)?.brokerId, 0);
    await transport.stop();
    await broker.close();
  });
});

describe('received messages', () => {
  const stored = (more: Partial<StoredMessage>): StoredMessage =>
    ({ topic: 'T', body: Buffer.from('x'), properties: '', sysFlag: 0, msgId: 'OFFSET', ...more }) as StoredMessage;

  it('are decompressed', () => {
    const body = deflateSync('hello');
    for (const sysFlag of [SysFlag.COMPRESSED, SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB])
      assert.equal(received(stored({ body, sysFlag }), 'b').message.body.toString(), 'hello');
  });

  it('say why they could not be, and keep their bytes', () => {
    const body = Buffer.from('not deflated');
    const { message, bodyProblem } = received(stored({ body, sysFlag: SysFlag.COMPRESSED }), 'b');
    assert.match(bodyProblem!, /does not inflate/);
    assert.equal(message.body, body);
    const lz4 = SysFlag.COMPRESSED | SysFlag.COMPRESSION_LZ4;
    assert.match(received(stored({ body, sysFlag: lz4 }), 'b').bodyProblem!, /lz4/);
  });

  it('show keys as a list, and the offset id when the producer gave none', () => {
    const { message } = received(stored({ properties: 'KEYS\u0001a  b\u0002TAGS\u0001t' }), 'b');
    assert.deepEqual([message.keys, message.tag, message.msgId, message.brokerName], [['a', 'b'], 't', 'OFFSET', 'b']);
    assert.equal(received(stored({ properties: 'RETRY_TOPIC\u0001X' }), 'b').message.topic, 'T');
  });
});
