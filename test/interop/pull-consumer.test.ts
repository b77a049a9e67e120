import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { until } from '../support/until.js';
import type { InMessage, LitePullConsumer } from './support/driver.js';
import { createTopic, driver, failure, keysOf, numbered, patienceMs, target, unique } from './support/suite.js';

const pollMs = 1_000;

/** Polls until so many messages came. */
async function polled(consumer: LitePullConsumer, count: number): Promise<InMessage[]> {
  const messages: InMessage[] = [];
  const enough = async (): Promise<boolean> => messages.push(...(await consumer.poll(pollMs))) >= count;
  await until(enough, `${consumer.handle} polls ${count} messages`, patienceMs);
  return messages;
}

describe('lite pull consumers of the Java client', () => {
  it('subscribe: gets everything, and after a commit the next consumer of the group goes on', async function () {
    this.timeout(90_000);
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('lite');
    await createTopic(await target(), topic);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 20)) await producer.send(message);
    const group = unique('group');

    const first = await java.litePullConsumer(namesrv, group);
    await first.subscribe(topic);
    await first.start();
    assert.deepEqual(keysOf(await polled(first, 20)), keysOf(numbered(topic, 20)));
    await first.call('commitSync');
    await first.close();

    for (const message of numbered(topic, 5, 20)) await producer.send(message);
    const second = await java.litePullConsumer(namesrv, group);
    await second.subscribe(topic);
    await second.start();
    assert.deepEqual(keysOf(await polled(second, 5)), keysOf(numbered(topic, 5, 20)));
    await Promise.all([producer.close(), second.close()]);
  });

  it('assign: reads the assigned queue alone, from the offset it seeks', async function () {
    this.timeout(90_000);
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('assigned');
    const queues = await createTopic(await target(), topic, 2);
    const [other, queue] = queues;
    assert.ok(other && queue);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 10)) await producer.send(message, queue);
    await producer.send({ topic, body: 'of the other queue' }, other);

    const consumer = await java.litePullConsumer(namesrv, unique('group'));
    await consumer.start();
    assert.deepEqual(new Set((await consumer.queues(topic)).map((found) => found.queueId)), new Set([0, 1]));
    await consumer.call('assign', [queue]);
    await consumer.call('seek', queue, 6);
    const messages = await polled(consumer, 4);
    assert.deepEqual(
      messages.map((message) => [message.queueId, message.queueOffset]),
      [6, 7, 8, 9].map((offset) => [1, offset]),
    );
    await consumer.call('commitSync');
    assert.equal(await consumer.call('committed', queue), 10);
    await Promise.all([producer.close(), consumer.close()]);
  });
});

describe('the pull consumer of the Java client', () => {
  it('reads ranges, and is told where a queue begins and ends', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('pulled');
    const [queue] = await createTopic(await target(), topic, 1);
    assert.ok(queue);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 50)) await producer.send(message, queue);
    const consumer = await java.pullConsumer(namesrv, unique('group'));
    await consumer.filled(queue, 50);

    assert.deepEqual(await consumer.queues(topic), [queue]);
    assert.deepEqual([await consumer.offset('minOffset', queue), await consumer.offset('maxOffset', queue)], [0, 50]);

    const some = await consumer.pull(queue, '*', 10, 5);
    assert.deepEqual([some.status, some.nextBeginOffset, some.minOffset, some.maxOffset], ['FOUND', 15, 0, 50]);
    assert.deepEqual(keysOf(some.messages), ['k10', 'k11', 'k12', 'k13', 'k14']);

    const most = await consumer.pull(queue, '*', 0, 100);
    assert.equal(most.messages.length, 32, 'maxTransferCountOnMessageInMemory');

    const end = await consumer.pull(queue, '*', 50, 10);
    assert.deepEqual([end.status, end.nextBeginOffset], ['NO_NEW_MSG', 50]);
    const beyond = await consumer.pull(queue, '*', 1_000, 10);
    assert.deepEqual([beyond.status, beyond.nextBeginOffset], ['OFFSET_ILLEGAL', 50]);
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('finds messages by time and by offset id', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('found');
    const [queue] = await createTopic(await target(), topic, 1);
    assert.ok(queue);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 10)) await producer.send(message, queue);
    const consumer = await java.pullConsumer(namesrv, unique('group'));
    const stored = await consumer.drain(queue, 10);

    for (const message of stored) {
      const offset = (await consumer.call('searchOffset', queue, message.storeTimestamp)) as number;
      assert.equal(stored[offset]?.storeTimestamp, message.storeTimestamp, 'several may share a millisecond');
    }
    assert.equal(await consumer.call('earliestMsgStoreTime', queue), stored[0]?.storeTimestamp);

    const wanted = stored[3];
    assert.ok(wanted?.offsetMsgId);
    const found = (await consumer.call('viewMessage', wanted.offsetMsgId)) as { queueOffset: number; msgId: string };
    assert.deepEqual([found.queueOffset, found.msgId], [3, wanted.msgId]);
    const nowhere = `${wanted.offsetMsgId.slice(0, 16)}00000000000FFFFF`;
    const error = await failure(consumer.call('viewMessage', nowhere));
    assert.equal(error.type, 'MQBrokerException');
    assert.match(error.text, /can not find message by the offset, 1048575/);
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('is refused with 16 when the topic may not be read', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const [queue] = await createTopic(await target(), unique('write_only'), 1, 2);
    assert.ok(queue);
    const consumer = await java.pullConsumer(namesrv, unique('group'));
    const error = await failure(consumer.pull(queue, '*', 0, 1));
    assert.deepEqual([error.type, error.code], ['MQBrokerException', 16]);
    await consumer.close();
  });

  it('keeps offsets in the broker', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('offsets');
    const [queue, untouched] = await createTopic(await target(), topic, 2);
    assert.ok(queue && untouched);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 10)) await producer.send(message, queue);
    const group = unique('group');
    const consumer = await java.pullConsumer(namesrv, group);
    await consumer.filled(queue, 10);
    await consumer.call('updateConsumeOffset', queue, 7);
    await consumer.call('persist', queue);
    const another = await java.pullConsumer(namesrv, group);
    assert.equal(await another.call('fetchConsumeOffset', queue, true), 7);
    // 4.9: ConsumerManageProcessor#queryConsumerOffset begins a group at 0 while a queue still has its first message.
    assert.equal(await another.call('fetchConsumeOffset', untouched, true), 0);
    await Promise.all([producer, consumer, another].map((client) => client.close()));
  });
});
