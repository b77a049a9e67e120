import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { RawClient } from '../support/raw-client.js';
import { propertyText, pull, pullAll, send } from '../support/send-pull.js';
import { until } from '../support/until.js';
import type { Driver, InMessage, Producer, Queue } from './support/driver.js';
import { arrived, createTopic, driver, mqadmin, patienceMs, routed, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

const retriesMax = 16;
const shortLevels = Array.from({ length: 18 }, () => '1s').join(' ');
/** What levels 1 to 4 of the default table stand for. */
const defaultDelaysMs = [1000, 5000, 10_000, 30_000];
const lastDelayMs = 30_000;

/** The default table runs beside the other tests: its level 4 takes half a minute. */
describe('delay levels, with the Java client', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-delays-'));
  let short: Target;
  let usual: Target;
  let java: Driver;
  let waiting: { readonly queue: Queue; readonly producer: Producer };

  before(async () => {
    java = await driver();
    [usual, short] = await Promise.all([
      startTarget(),
      startTarget({ storeDir: join(folder, 'store'), options: { messageDelayLevel: shortLevels } }),
    ]);
    waiting = await sendDefaultLevels();
  });
  after(async () => {
    await Promise.all([usual?.stop(), short?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('a level above the highest waits as long as the highest; the message comes once, as it was sent', async () => {
    const [queue] = await createTopic(short, unique('delayed'), 1);
    assert.ok(queue);
    const producer = await java.producer(short.namesrv);
    const message = { topic: queue.topic, tags: 'a', flag: 7, properties: { 颜色: '红' } };
    for (const level of [1, 18, 99])
      await producer.send({ ...message, body: `level ${level}`, keys: `k${level}`, delayTimeLevel: level }, queue);
    const found = await drained(short, queue, 3);
    assert.deepEqual(found.map((m) => m.body.toString()).sort(), ['level 1', 'level 18', 'level 99']);
    for (const one of found) {
      const { properties, flag, queueId, storeTimestamp, bornTimestamp } = one;
      assert.deepEqual([properties['TAGS'], properties['颜色'], flag, queueId], ['a', '红', 7, 0]);
      assert.deepEqual([properties['REAL_TOPIC'], properties['REAL_QID']], [queue.topic, '0']);
      assert.ok(storeTimestamp - bornTimestamp >= 1000, 'not early');
    }
    assert.deepEqual(found.map((m) => m.properties['DELAY']).sort(), ['1', '18', '18']);
    await producer.close();
  });

  it('a message that is never consumed goes through all retries to the dead letters (B23)', async () => {
    const topic = unique('refused');
    const group = unique('group');
    const dead = `%DLQ%${group}`;
    await createTopic(short, topic, 1);
    const { consumer, producer } = await refusing(topic, group);
    const sent = await producer.send({ topic, body: 'never', keys: 'k0', tags: 'a' });
    const attempts = await arrived(consumer, retriesMax + 1, 60_000);
    await routed(short, dead);
    assert.deepEqual(
      attempts.map(({ reconsumeTimes, msgId }) => [reconsumeTimes, msgId]),
      Array.from({ length: retriesMax + 1 }, (_, i) => [i, sent.msgId]),
    );
    await consumer.close();
    using client = await RawClient.connect(short.broker);
    const [letter] = await pullAll(client, 1, { topic: dead, consumerGroup: group });
    assert.ok(letter);
    const properties = new Map(letter.properties.split('\u0002').map((p) => p.split('\u0001') as [string, string]));
    assert.deepEqual(
      ['ORIGIN_MESSAGE_ID', 'RETRY_TOPIC', 'UNIQ_KEY', 'TAGS'].map((name) => properties.get(name)),
      [sent.offsetMsgId, topic, sent.msgId, 'a'],
    );
    assert.deepEqual([letter.reconsumeTimes, letter.queueId, letter.body.toString()], [retriesMax + 1, 0, 'never']);
    const route = (await mqadmin(short, 'topicRoute', '-t', dead)).join('').replaceAll(' ', '');
    assert.match(route, /"perm":6.*"readQueueNums":1.*"writeQueueNums":1/);
    for (const version of [120, 121]) {
      const retry = { topic: `%RETRY%${group}`, reconsumeTimes: retriesMax, version };
      const wish = { ...retry, properties: propertyText({ RETRY_TOPIC: topic, UNIQ_KEY: `V${version}` }) };
      assert.equal((await send(client, wish)).code, 0);
    }
    const all = await pullAll(client, 3, { topic: dead, consumerGroup: group });
    assert.equal(all.length, 3, 'without a limit in the request that of the group counts, for old clients, too');
    await producer.close();
  });

  it('a dead letter does not wait (B19)', async function () {
    if (short.kind === 'jvm') this.skip();
    using client = await RawClient.connect(short.broker);
    const group = unique('group');
    const properties = propertyText({ DELAY: '18', RETRY_TOPIC: 'T', UNIQ_KEY: 'B19' });
    const wish = { topic: `%RETRY%${group}`, reconsumeTimes: 1, maxReconsumeTimes: 1, properties };
    const { code, header } = await send(client, wish);
    assert.equal(code, 0);
    const { topic } = (await pullAll(client, 1, { topic: `%DLQ%${group}`, consumerGroup: group }))[0] ?? {};
    assert.deepEqual([topic, header.queueOffset], [`%DLQ%${group}`, 0]);
    const { messages } = await pull(client, { topic: 'SCHEDULE_TOPIC_XXXX', queueId: 17 });
    assert.ok(!messages.some((message) => message.properties.includes('B19')));
  });

  it('levels 1 to 4 of the default table wait as long as they say, and no message comes twice', async () => {
    const { queue, producer } = waiting;
    const found = await drained(usual, queue, defaultDelaysMs.length, lastDelayMs + patienceMs);
    assert.deepEqual(
      found.map((message) => message.properties['KEYS']),
      ['k1', 'k2', 'k3', 'k4'],
    );
    found.forEach(({ storeTimestamp, bornTimestamp }, i) =>
      assert.ok(storeTimestamp - bornTimestamp >= (defaultDelaysMs[i] ?? NaN), `level ${i + 1} is not early`),
    );
    await producer.close();
  });

  it('a store whose queues are built again has each delayed message once, where it was (B19)', async () => {
    const storeDir = join(folder, 'store');
    const [queue] = await createTopic(short, unique('rebuilt'), 1);
    assert.ok(queue);
    const producer = await java.producer(short.namesrv);
    await producer.send({ topic: queue.topic, body: 'once', keys: 'k1', delayTimeLevel: 1 }, queue);
    const before = await drained(short, queue, 1);
    await producer.close();
    await short.stop();
    for (const name of ['consumequeue', 'index']) rmSync(join(storeDir, name), { recursive: true });
    short = await startTarget({
      storeDir,
      options: { messageDelayLevel: shortLevels },
      sameAddressesAs: short,
    });
    await routed(short, queue.topic);
    const again = await java.producer(short.namesrv);
    await again.send({ topic: queue.topic, body: 'fence', keys: 'k2', delayTimeLevel: 1 }, queue);
    const found = await drained(short, queue, 2);
    assert.deepEqual(
      found.map((message) => message.properties['KEYS']),
      ['k1', 'k2'],
    );
    assert.deepEqual(found[0]?.commitLogOffset, before[0]?.commitLogOffset);
    assert.ok(existsSync(join(storeDir, 'consumequeue', queue.topic)));
    await again.close();
  });

  /** Into one queue, the longest first: they come in the order of their delays. */
  async function sendDefaultLevels(): Promise<typeof waiting> {
    const [queue] = await createTopic(usual, unique('default_levels'), 1);
    assert.ok(queue);
    const producer = await java.producer(usual.namesrv);
    for (const level of [4, 3, 2, 1])
      await producer.send({ topic: queue.topic, body: 'waits', keys: `k${level}`, delayTimeLevel: level }, queue);
    return { queue, producer };
  }

  async function drained({ namesrv }: Target, queue: Queue, count: number, limitMs = patienceMs): Promise<InMessage[]> {
    const reader = await java.pullConsumer(namesrv, unique('reader'));
    const there = async (): Promise<boolean> => (await reader.offset('maxOffset', queue)) >= count;
    await until(there, `${count} messages of ${queue.topic}`, limitMs);
    const found = await reader.drain(queue, count);
    await reader.close();
    assert.equal(found.length, count);
    return found;
  }

  /** A consumer that refuses everything, started when its retry topic is there: a client looks for routes every 30 s only. */
  async function refusing(topic: string, group: string) {
    const first = await java.pushConsumer({ namesrv: short.namesrv, group, topic });
    await routed(short, `%RETRY%${group}`);
    await first.close();
    const consumer = await java.pushConsumer({ namesrv: short.namesrv, group, topic, refusals: 99 });
    return { consumer, producer: await java.producer(short.namesrv) };
  }
});
