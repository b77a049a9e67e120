import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { Driver } from './support/driver.js';
import { arrived, createTopic, keysOf, target, unique } from './support/suite.js';

describe('the Java client with binary headers (ROCKETMQ)', () => {
  let java: Driver;
  before(async () => {
    java = await Driver.start({ properties: ['-Drocketmq.serialize.type=ROCKETMQ'] });
  });
  after(() => java.stop());

  it('sends in every way, consumes and sees Chinese and emoji unharmed', async () => {
    const { namesrv } = await target();
    const topic = unique('binary');
    const [queue] = await createTopic(await target(), topic, 1);
    assert.ok(queue);
    const producer = await java.producer(namesrv);
    const message = { topic, body: '消息 🚀', tags: '标签', properties: { 颜色: '红 🚀' } };
    await producer.send({ ...message, keys: 'k0' }, queue);
    await producer.sendAsync({ ...message, keys: 'k1' }, queue);
    await producer.sendBatch(
      ['k2', 'k3'].map((keys) => ({ ...message, keys })),
      queue,
    );
    await producer.sendOneway({ ...message, keys: 'k4' }, queue);
    const expression = { type: 'TAG', text: '标签' } as const;
    const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic, expression });
    const received = await arrived(consumer, 5);
    assert.deepEqual(keysOf(received), ['k0', 'k1', 'k2', 'k3', 'k4']);
    for (const { body, properties } of received) {
      assert.deepEqual(
        [body.toString(), properties['TAGS'], properties['颜色']],
        [message.body, message.tags, message.properties.颜色],
      );
    }
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('reads and keeps offsets', async () => {
    const { namesrv } = await target();
    const topic = unique('binary_pull');
    const [queue] = await createTopic(await target(), topic, 1);
    assert.ok(queue);
    const producer = await java.producer(namesrv);
    await producer.send({ topic, body: 'one' }, queue);
    const group = unique('group');
    const consumer = await java.pullConsumer(namesrv, group);
    assert.deepEqual(
      (await consumer.drain(queue, 1)).map((stored) => stored.body.toString()),
      ['one'],
    );
    await consumer.call('updateConsumeOffset', queue, 1);
    await consumer.call('persist', queue);
    assert.equal(await consumer.call('fetchConsumeOffset', queue, true), 1);
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('mqadmin shows cluster and topic', async () => {
    const { namesrv, broker } = await target();
    const topic = unique('binary_admin');
    await createTopic(await target(), topic, 2);
    const cluster = await java.mqadmin('clusterList', '-n', namesrv);
    assert.match(cluster.out, new RegExp(`^DefaultCluster +broker-a +0 +${broker} +V4_9_7 `, 'm'));
    const status = await java.mqadmin('topicStatus', '-n', namesrv, '-t', topic);
    assert.equal(status.out.match(/^broker-a +[01] +0 +0 +$/gm)?.length, 2, status.out);
    assert.equal(cluster.err + status.err, '');
  });
});
