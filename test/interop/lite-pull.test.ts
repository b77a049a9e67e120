import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { RequestCode } from '../../protocol/codes.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import type { Expression, InMessage, LitePullConsumer, Queue } from './support/driver.js';
import { createTopic, driver, keysOf, patienceMs, target, unique } from './support/suite.js';

const pollMs = 1000;

/** Polls until the message with that key came; gives the keys of all that did, in their order. */
async function polledTo(consumer: LitePullConsumer, key: string): Promise<string[]> {
  const messages: InMessage[] = [];
  await until(
    async () => {
      messages.push(...(await consumer.poll(pollMs)));
      return messages.some((message) => message.properties['KEYS'] === key);
    },
    `${consumer.handle} polls ${key}`,
    patienceMs,
  );
  return messages.map((message) => message.properties['KEYS'] ?? '');
}

/** A topic of one queue with twelve messages: every third has tag `c`, and each its number as property `n`. */
async function world(word: string): Promise<{ topic: string; queue: Queue; times: number[] }> {
  const [java, { namesrv }] = [await driver(), await target()];
  const topic = unique(word);
  const [queue] = await createTopic(await target(), topic, 1);
  assert.ok(queue);
  const producer = await java.producer(namesrv);
  for (let i = 0; i < 12; i++)
    await producer.send({ topic, body: `${i}`, keys: `k${i}`, tags: 'abc'[i % 3]!, properties: { n: `${i}` } }, queue);
  const reader = await java.pullConsumer(namesrv, unique('group'));
  const stored = await reader.drain(queue, 12);
  await Promise.all([producer.close(), reader.close()]);
  return { topic, queue, times: stored.map(({ storeTimestamp }) => storeTimestamp) };
}

/** Of a group that stands at the end: what comes was asked for by a seek, and not pulled before it. */
async function assigned(queue: Queue): Promise<LitePullConsumer> {
  const { namesrv, broker } = await target();
  const group = unique('group');
  using raw = await RawClient.connect(broker);
  const { topic, queueId } = queue;
  const ext = encodeUpdateConsumerOffset({ consumerGroup: group, topic, queueId, commitOffset: 12 });
  assert.equal((await raw.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext })).code, 0);
  const consumer = await (await driver()).litePullConsumer(namesrv, group);
  await consumer.start();
  await consumer.call('assign', [queue]);
  return consumer;
}

describe('lite pull consumers of the Java client, further', function () {
  this.timeout(90_000);

  const filters: Record<string, [Expression, string[]]> = {
    'by tag': [{ type: 'TAG', text: 'c' }, ['k2', 'k5', 'k8', 'k11']],
    'by SQL92': [{ type: 'SQL92', text: "n BETWEEN 4 AND 6 OR n = '11'" }, ['k4', 'k5', 'k6', 'k11']],
  };
  for (const [name, [expression, keys]] of Object.entries(filters))
    it(`subscribe ${name}`, async () => {
      const { topic } = await world('lite_filtered');
      const consumer = await (await driver()).litePullConsumer((await target()).namesrv, unique('group'));
      await consumer.subscribe(topic, expression);
      await consumer.start();
      assert.deepEqual(await polledTo(consumer, 'k11'), keys);
      await consumer.close();
    });

  it('seek to the beginning, to the end and to a time', async () => {
    const { queue, times, topic } = await world('lite_seek');
    const consumer = await assigned(queue);
    const last = ['k9', 'k10', 'k11'];
    await consumer.call('seek', queue, 9);
    assert.deepEqual(await polledTo(consumer, 'k11'), last);
    await consumer.call('seekToBegin', queue);
    assert.deepEqual(
      (await polledTo(consumer, 'k11')).slice(-12),
      [...'0123456789', '10', '11'].map((i) => `k${i}`),
    );
    const offset = (await consumer.call('offsetForTimestamp', queue, times[9]!)) as number;
    assert.equal(times[offset], times[9]);
    await consumer.call('seekToEnd', queue);
    const producer = await (await driver()).producer((await target()).namesrv);
    await producer.send({ topic, body: 'later', keys: 'later' }, queue);
    assert.deepEqual((await polledTo(consumer, 'later')).slice(-1), ['later']);
    await Promise.all([producer.close(), consumer.close()]);
  });

  it('pause and resume', async () => {
    const { queue } = await world('lite_pause');
    const consumer = await assigned(queue);
    await consumer.call('seek', queue, 6);
    await polledTo(consumer, 'k11');
    await consumer.call('pause', [queue]);
    await consumer.call('seek', queue, 10);
    assert.deepEqual(await consumer.poll(500), []);
    await consumer.call('resume', [queue]);
    assert.deepEqual(await polledTo(consumer, 'k11'), ['k10', 'k11']);
    await consumer.close();
  });

  it('the pull consumer reads by tag', async () => {
    const { queue } = await world('pull_filtered');
    const consumer = await (await driver()).pullConsumer((await target()).namesrv, unique('group'));
    const byTag = await consumer.pull(queue, 'a || c', 0, 32);
    assert.deepEqual(keysOf(byTag.messages), ['k0', 'k2', 'k3', 'k5', 'k6', 'k8', 'k9', 'k11']);
    const none = await consumer.pull(queue, 'nobody', 0, 32);
    assert.deepEqual([none.status, none.nextBeginOffset], ['NO_MATCHED_MSG', 12]);
    await consumer.close();
  });
});
