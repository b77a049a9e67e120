import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { until } from '../support/until.js';
import type { InMessage, Producer, PushConsumer, Queue } from './support/driver.js';
import { arrived, createTopic, driver, keysOf, mqadmin, numbered, patienceMs, routed } from './support/suite.js';
import { target, unique } from './support/suite.js';

/** A broker that only sweeps its held pulls is slower: 4.9 sweeps every 5 s. */
const wakeUpMs = 3_000;

/** 4.9's clients rebalance on their own every 20 s; sooner only when the broker tells them that the group changed. */
const notifiedMs = 15_000;

describe('push consumers of the Java client', () => {
  it('clustering: a group gets each message once', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('clustering');
    await createTopic(await target(), topic);
    const producer = await java.producer(namesrv);
    const sent = numbered(topic, 40);
    for (const message of sent.slice(0, 20)) await producer.send(message);
    const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic });
    for (const message of sent.slice(20)) await producer.send(message);
    assert.deepEqual(keysOf(await arrived(consumer, 40)), keysOf(sent));
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('broadcasting: each consumer of a group gets each message', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('broadcasting');
    await createTopic(await target(), topic);
    const request = { namesrv, group: unique('group'), topic, broadcasting: true };
    const consumers = [await java.pushConsumer(request), await java.pushConsumer(request)];
    const producer = await java.producer(namesrv);
    const sent = numbered(topic, 20);
    for (const message of sent) await producer.send(message);
    for (const consumer of consumers) assert.deepEqual(keysOf(await arrived(consumer, 20)), keysOf(sent));
    await Promise.all([producer, ...consumers].map((client) => client.close()));
  });

  it('two consumers of a group share the queues, and the one that stays takes over the other half', async function () {
    this.timeout(120_000);
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('shared');
    const queues = await createTopic(await target(), topic);
    const producer = await java.producer(namesrv);
    const group = unique('group');
    const first = await java.pushConsumer({ namesrv, group, topic, config: { instanceName: `${group}-a` } });
    await settles(producer, queues, [first], [[0, 1, 2, 3]], patienceMs);
    const second = await java.pushConsumer({ namesrv, group, topic, config: { instanceName: `${group}-b` } });
    // 4.9: AllocateMessageQueueAveragely deals out in the order of the client ids.
    const shares = [
      [0, 1],
      [2, 3],
    ];
    await settles(producer, queues, [first, second], shares, notifiedMs);
    await second.close();
    await settles(producer, queues, [first], [[0, 1, 2, 3]], notifiedMs);
    await Promise.all([producer.close(), first.close()]);
  });

  it('orderly: each queue is consumed in its order', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('orderly');
    const queues = await createTopic(await target(), topic, 3);
    const producer = await java.producer(namesrv);
    const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic, orderly: true });
    for (const message of numbered(topic, 20)) for (const queue of queues) await producer.send(message, queue);
    const received = await arrived(consumer, 60);
    for (const queue of queues) {
      assert.deepEqual(
        received.filter((message) => message.queueId === queue.queueId).map((message) => message.queueOffset),
        Array.from({ length: 20 }, (_, i) => i),
      );
    }
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('a consumer that waits gets a message as it arrives, not with the next sweep', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('wake_up');
    const [queue] = await createTopic(await target(), topic, 1);
    const producer = await java.producer(namesrv);
    const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic });
    await producer.send({ topic, body: 'first' }, queue);
    await arrived(consumer, 1);
    for (let i = 2; i <= 4; i++) {
      await producer.send({ topic, body: `number ${i}` }, queue);
      await until(() => consumer.received.length === i, `message ${i} arrives early`, wakeUpMs);
    }
    await Promise.all([producer.close(), consumer.close()]);
  });
});

/** Sends rounds of one message per queue until a round is consumed by its wanted owners, then a long round that must be. */
async function settles(
  producer: Producer,
  queues: readonly Queue[],
  consumers: readonly PushConsumer[],
  wanted: readonly (readonly number[])[],
  deadlineMs: number,
): Promise<void> {
  const asWanted = async (perQueue: number): Promise<boolean> => {
    const ids = new Set<string>();
    for (const queue of queues) {
      for (let i = 0; i < perQueue; i++) {
        ids.add((await producer.send({ topic: queue.topic, body: `round of ${queue.queueId}` }, queue)).msgId);
      }
    }
    const mine = (messages: readonly InMessage[]): InMessage[] => messages.filter((message) => ids.has(message.msgId));
    const seen = (): InMessage[] => consumers.flatMap((consumer) => mine(consumer.received));
    await until(
      () => new Set(seen().map((message) => message.msgId)).size === ids.size,
      'the round arrived',
      patienceMs,
    );
    const owned = consumers.map((consumer) => [...new Set(mine(consumer.received).map((m) => m.queueId))].sort());
    return seen().length === ids.size && JSON.stringify(owned) === JSON.stringify(wanted);
  };
  await until(() => asWanted(1), `the queues are shared as ${JSON.stringify(wanted)}`, deadlineMs);
  assert.ok(await asWanted(10), 'once shared they stay so, and each message comes once');
}

describe('messages that a consumer of the Java client sends back', () => {
  it('come again with the delay of their level and the number of the attempt', async function () {
    this.timeout(120_000);
    const [java, served] = [await driver(), await target()];
    const { namesrv } = served;
    const topic = unique('sent_back');
    await createTopic(served, topic, 1);
    const group = unique('group');
    await retryTopicOf(group, topic);
    const consumer = await java.pushConsumer({ namesrv, group, topic, refusals: 2 });
    const producer = await java.producer(namesrv);
    const sent = await producer.send({ topic, body: 'not yet', keys: 'k0', tags: 'a', properties: { colour: '红' } });
    const attempts = await arrived(consumer, 3);
    assert.deepEqual(
      attempts.map((message) => [message.reconsumeTimes, message.topic, message.body.toString()]),
      [0, 1, 2].map((times) => [times, topic, 'not yet']),
    );
    for (const [before, later] of [attempts.slice(0, 2), attempts.slice(1, 3)]) {
      assert.ok(before && later);
      assert.equal(later.properties['RETRY_TOPIC'], topic);
      assert.equal(later.properties['ORIGIN_MESSAGE_ID'], sent.offsetMsgId);
      assert.equal(later.properties['UNIQ_KEY'], sent.msgId);
      assert.equal(later.properties['colour'], '红');
      assert.equal(later.properties['TAGS'], 'a');
      assert.ok(later.storeTimestamp - before.storeTimestamp >= 1_000, 'levels 3 and 4 are one second here');
    }
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('end in the dead-letter topic after the last attempt', async function () {
    this.timeout(120_000);
    const [java, served] = [await driver(), await target()];
    const { namesrv } = served;
    const topic = unique('given_up');
    await createTopic(served, topic, 1);
    const group = unique('group');
    await retryTopicOf(group, topic);
    const config = { maxReconsumeTimes: 1 };
    const consumer = await java.pushConsumer({ namesrv, group, topic, refusals: 99, config });
    const producer = await java.producer(namesrv);
    await producer.send({ topic, body: 'never' });
    await arrived(consumer, 2);
    const dead = `%DLQ%${group}`;
    await routed(served, dead);
    const [, row] = await mqadmin(served, 'topicStatus', '-t', dead);
    assert.match(row ?? '', /^broker-a +0 +0 +1 /);
    assert.equal(consumer.received.length, 2);
    await Promise.all([producer.close(), consumer.close()]);
  });
});

/**
 * A first consumer of a group makes the broker create its retry topic. A client that starts later finds its route at
 * once; the first one would look again after 30 s.
 */
async function retryTopicOf(group: string, topic: string): Promise<void> {
  const [java, served] = [await driver(), await target()];
  const first = await java.pushConsumer({ namesrv: served.namesrv, group, topic });
  await routed(served, `%RETRY%${group}`);
  await first.close();
}
