import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'mocha';
import type { InMessage, OutMessage, Producer, Queue, SendResult } from './support/driver.js';
import type { JavaError } from './support/java.js';
import { arrived, createTopic, driver, failure, mqadmin, target, unique } from './support/suite.js';

const alphabets: Record<string, string> = {
  ASCII: 'plain text, with = and : and | and / inside',
  Chinese: '消息队列：可靠、有序、快速',
  emoji: '👩‍🚀🚀 astral 𝕏 and combining é',
};

const compressedSysFlag = 1;

function textMessage(topic: string, name: string, text: string): OutMessage {
  return { topic, body: text, tags: `tag${name}`, keys: `k${text}`, properties: { colour: text, 颜色: name }, flag: 7 };
}

function assertSame(received: InMessage, sent: OutMessage): void {
  assert.equal(received.topic, sent.topic);
  assert.deepEqual(received.body, Buffer.from(sent.body));
  assert.equal(received.properties['TAGS'], sent.tags);
  assert.equal(received.properties['KEYS'], sent.keys);
  for (const [name, value] of Object.entries(sent.properties ?? {})) assert.equal(received.properties[name], value);
  assert.equal(received.flag, sent.flag ?? 0);
}

/** Sends through `send`, then compares what a push consumer gets, whatever the order. */
async function roundTrip(
  send: (producer: Producer, messages: OutMessage[], queue: Queue) => Promise<void>,
): Promise<void> {
  const [java, { namesrv }] = [await driver(), await target()];
  const topic = unique('contents');
  const [queue] = await createTopic(await target(), topic, 1);
  assert.ok(queue);
  const messages = Object.entries(alphabets).map(([name, text]) => textMessage(topic, name, text));
  const producer = await java.producer(namesrv);
  const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic });
  await send(producer, messages, queue);
  const received = await arrived(consumer, messages.length);
  for (const sent of messages) {
    const twin = received.find((message) => message.properties['KEYS'] === sent.keys);
    assert.ok(twin, `message with keys ${sent.keys} arrived`);
    assertSame(twin, sent);
  }
  assert.equal(received.length, messages.length);
  await Promise.all([producer.close(), consumer.close()]);
}

describe('sends of the Java client', () => {
  it('sync: ASCII, Chinese and emoji arrive as sent', () =>
    roundTrip(async (producer, messages) => {
      for (const message of messages) assert.equal((await producer.send(message)).status, 'SEND_OK');
    }));

  it('async: ASCII, Chinese and emoji arrive as sent', () =>
    roundTrip(async (producer, messages) => {
      const results = await Promise.all(messages.map((message) => producer.sendAsync(message)));
      assert.deepEqual(
        results.map((result) => result.status),
        messages.map(() => 'SEND_OK'),
      );
    }));

  it('one-way: ASCII, Chinese and emoji arrive as sent', () =>
    roundTrip(async (producer, messages) => {
      for (const message of messages) await producer.sendOneway(message);
    }));

  it('batch: ASCII, Chinese and emoji arrive as sent, with one id and one queue offset each', () =>
    roundTrip(async (producer, messages, queue) => {
      const first = await producer.sendBatch(messages.slice(0, 2), queue);
      const second = await producer.sendBatch(messages.slice(2), queue);
      assert.deepEqual([first.status, second.status], ['SEND_OK', 'SEND_OK']);
      assert.deepEqual([first.queueOffset, second.queueOffset], [0, 2]);
      assert.deepEqual(
        [first, second].map((result) => [result.msgId.split(',').length, result.offsetMsgId.split(',').length]),
        [
          [2, 2],
          [1, 1],
        ],
      );
    }));

  it('a result names the stored message: ids, queue, and offsets that count up in each queue', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('results');
    const queues = await createTopic(served, topic, 4);
    const producer = await java.producer(served.namesrv);
    const results: SendResult[] = [];
    for (let i = 0; i < 20; i++) results.push(await producer.send({ topic, body: `body ${i}`, keys: `k${i}` }));
    const reader = await java.pullConsumer(served.namesrv, unique('group'));
    const used = new Set(results.map((result) => result.queue.queueId));
    assert.deepEqual(used, new Set([0, 1, 2, 3]), 'the client deals to all queues');
    for (const queue of queues) {
      const mine = results.filter((result) => result.queue.queueId === queue.queueId);
      assert.deepEqual(
        mine.map((result) => result.queueOffset),
        mine.map((_, i) => i),
      );
      const stored = await reader.drain(queue, mine.length);
      assert.deepEqual(
        stored.map(({ msgId, offsetMsgId, queueOffset }) => ({ msgId, offsetMsgId, queueOffset })),
        mine.map(({ msgId, offsetMsgId, queueOffset }) => ({ msgId, offsetMsgId, queueOffset })),
      );
      for (const message of stored) assertOffsetId(message, served.broker);
    }
    assert.ok(results.every((result) => result.regionId === 'DefaultRegion' && result.queue.brokerName === 'broker-a'));
    await Promise.all([producer.close(), reader.close()]);
  });

  it('a message with WAIT=false is stored, without that property', async () => {
    // 4.9: SendMessageProcessor#asyncSendMessage leaves WAIT out of what it stores, whatever its value.
    const [stored] = await storedOf({ body: 'no need to wait', wait: false, properties: { colour: 'red' } });
    assert.equal(stored?.properties['colour'], 'red');
    assert.equal(stored.properties['WAIT'], undefined);
  });

  it('a body of 1 MiB that does not compress arrives whole', async () => {
    const body = randomBytes(1024 * 1024);
    const [stored] = await storedOf({ body });
    assert.ok(stored?.body.equals(body));
  });

  it('a body over 4 KiB is stored as the client compressed it and read back whole', async () => {
    const body = 'compress me, '.repeat(20_000);
    const [stored] = await storedOf({ body });
    assert.equal(stored?.body.toString(), body);
    assert.equal(stored.sysFlag & compressedSysFlag, compressedSysFlag);
    assert.ok(stored.storeSize < 20_000, `stored in ${stored.storeSize} bytes`);
  });

  it('an unknown topic is made on the first send, with four queues', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('made_on_send');
    const producer = await java.producer(served.namesrv);
    assert.equal((await producer.send({ topic, body: 'first' })).status, 'SEND_OK');
    const route = JSON.parse((await mqadmin(served, 'topicRoute', '-t', topic)).join('').replace(/\{0:/g, '{"0":')) as {
      queueDatas: unknown[];
    };
    assert.deepEqual(route.queueDatas, [
      { brokerName: 'broker-a', perm: 6, readQueueNums: 4, topicSysFlag: 0, writeQueueNums: 4 },
    ]);
    await producer.close();
  });
});

describe('sends that the broker refuses', () => {
  it('answers 13 for a message over 4 MiB and takes one just below', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('limit');
    const [queue] = await createTopic(served, topic, 1);
    const producer = await java.producer(served.namesrv, {
      maxMessageSize: 16 * 1024 * 1024,
      compressMsgBodyOverHowmuch: 16 * 1024 * 1024,
    });
    const limit = 4 * 1024 * 1024;
    assert.equal((await producer.send({ topic, body: Buffer.alloc(limit - 1024, 1) }, queue)).status, 'SEND_OK');
    const error = await failure(producer.send({ topic, body: Buffer.alloc(limit + 1, 1) }, queue));
    assert.deepEqual([error.type, error.code], ['MQBrokerException', 13]);
    const next = await producer.send({ topic, body: 'after the refusal' }, queue);
    assert.equal(next.queueOffset, 1, 'a refused message takes no queue offset');
    await producer.close();
  });

  it('answers 13 for properties over 32767 bytes', async () => {
    const error = await refusedSend({ properties: { long: 'x'.repeat(33_000) } });
    assert.deepEqual([error.type, error.code], ['MQBrokerException', 13]);
  });

  it('answers 1 for a queue that the topic does not have', async () => {
    const error = await refusedSend({}, 4);
    assert.deepEqual([error.type, error.code], ['MQBrokerException', 1]);
    assert.match(error.text, /request queueId\[4\] is illegal/);
  });
});

/** Sends to a topic of one queue, past the client's own checks, and gives the broker's answer. */
async function refusedSend(extra: Partial<OutMessage>, queueId = 0): Promise<JavaError> {
  const [java, served] = [await driver(), await target()];
  const topic = unique('refused');
  await createTopic(served, topic, 1);
  const producer = await java.producer(served.namesrv);
  const error = await failure(
    producer.send({ topic, body: 'x', ...extra }, { topic, brokerName: 'broker-a', queueId }),
  );
  await producer.close();
  return error;
}

/** Sends one message to a new topic and reads that queue back. */
async function storedOf(message: Omit<OutMessage, 'topic'>): Promise<InMessage[]> {
  const [java, { namesrv }] = [await driver(), await target()];
  const topic = unique('stored');
  const [queue] = await createTopic(await target(), topic, 1);
  assert.ok(queue);
  const producer = await java.producer(namesrv);
  assert.equal((await producer.send({ ...message, topic })).status, 'SEND_OK');
  const reader = await java.pullConsumer(namesrv, unique('group'));
  const stored = await reader.drain(queue, 1);
  await Promise.all([producer.close(), reader.close()]);
  return stored;
}

/** 4.9: MessageDecoder#createMessageId: IPv4, port and commit log offset in hexadecimal. */
function assertOffsetId(message: InMessage, broker: string): void {
  const id = Buffer.from(message.offsetMsgId ?? '', 'hex');
  assert.equal(`${[...id.subarray(0, 4)].join('.')}:${id.readInt32BE(4)}`, broker);
  assert.equal(Number(id.readBigInt64BE(8)), message.commitLogOffset);
  assert.equal(message.storeHost, `/${broker}`);
  assert.match(message.bornHost, /^\/127\.0\.0\.1:\d+$/);
}
