import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { AdminClient, PushConsumer, type ConsumerPeriods, type PushConsumerOptions } from '../../client/index.js';
import { pause } from '../../client/consumer/pause.js';
import { systemClock } from '../../kernel/base/clock.js';
import { orderProblems, type Delivery, type MemberEnd } from '../chaos/support/deliveries.js';
import { until } from '../support/until.js';
import {
  Driver,
  type InMessage,
  type Producer,
  type PushConsumer as JavaConsumer,
  type Queue,
} from './support/driver.js';
import {
  arrived,
  createTopic,
  driver,
  mqadmin,
  numbered,
  patienceMs,
  routed,
  target,
  unique,
} from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

const FROM_FIRST = { from: 'first', orderly: true, suspendCurrentQueueMs: 10 } as const;

/** A member of this SDK, with what it heard. */
interface OwnMember {
  readonly consumer: PushConsumer;
  readonly heard: Delivery[];
}

async function ownMember(
  name: string,
  options: Partial<PushConsumerOptions> & { namesrvAddr: string; group: string },
  topic: string,
): Promise<OwnMember> {
  const consumer = new PushConsumer({ ...FROM_FIRST, ...options });
  const heard: Delivery[] = [];
  await consumer.subscribe(topic);
  await consumer.start(async ([message]) => {
    const { queueId, queueOffset: offset } = message!;
    const beganMs = systemClock.monoMs();
    const one = { member: name, queueId, offset, beganMs, endedMs: Infinity, done: false, lost: false };
    heard.push(one);
    await pause(1, new AbortController().signal);
    one.endedMs = systemClock.monoMs();
    one.done = true;
    return 'success' as const;
  });
  return { consumer, heard };
}

/** A Java member drops what runs while it hands a queue over: it commits before, so that the next owner may hear that once more. */
function javaHeard(member: string, messages: readonly InMessage[]): Delivery[] {
  return messages.map(({ queueId, queueOffset: offset, heardMs = NaN }) => ({
    ...{ member, queueId, offset, beganMs: heardMs, endedMs: heardMs, done: true, lost: true },
  }));
}

describe('ordered consumption by Java members and ours', () => {
  const QUEUES = 8;
  const LOCK_EXPIRY_MS = 4000;
  /** The client's own periods must be below the broker's, as with the defaults. */
  const javaLocks = [
    '-Drocketmq.client.rebalance.lockInterval=500',
    '-Drocketmq.client.rebalance.lockMaxLiveTime=2000',
  ];
  const waits = ['-Drocketmq.client.rebalance.waitInterval=2000'];
  const periods: ConsumerPeriods = {
    lockMs: 500,
    lockValidMs: 2000,
    lockRetryMs: 500,
    persistMs: 300,
    rebalanceMs: 2000,
  };
  let served: Target;
  let stays: Driver;
  let dies: Driver;

  before(async () => {
    served = await startTarget({
      options: { queueLockExpiryMs: LOCK_EXPIRY_MS, expiryScanIntervalMs: 200 },
      jvmFlags: [
        '-XX:TieredStopAtLevel=1',
        '-Xmx512m',
        `-Drocketmq.broker.rebalance.lockMaxLiveTime=${LOCK_EXPIRY_MS}`,
      ],
    });
    stays = await Driver.start({ properties: [...javaLocks, ...waits] });
    dies = await Driver.start({ properties: [...javaLocks, ...waits] });
  });
  after(async () => {
    await Promise.all([stays.stop(), dies.stop()]);
    await served.stop();
  });

  it('keeps each queue in order while members join, leave and are killed', async function () {
    this.timeout(120_000);
    const { namesrv } = served;
    const [topic, group] = [unique('mixed'), unique('ordered')];
    const queues = await createTopic(served, topic, QUEUES);
    const load = new Load(await (await driver()).producer(namesrv), topic, queues);
    const own = { namesrvAddr: namesrv, group, periods };
    const java = { namesrv, group, topic, orderly: true };
    await using admin = new AdminClient({ namesrvAddr: namesrv });

    const a = await stays.pushConsumer(java);
    await load.more(200);
    const b = await ownMember('b', own, topic);
    await joined(() => b.heard.length > 20, 'ours has taken queues over from a Java member');
    const c = await dies.pushConsumer(java);
    await joined(() => c.received.length > 20, 'a Java member has taken queues over');
    process.kill(dies.pid, 'SIGKILL');
    const d = await ownMember('d', own, topic);
    await joined(() => d.heard.length > 20, 'ours has taken queues over');
    await b.consumer.stop();
    await load.more(200);
    await a.close();
    await load.end();
    const consumed = async (): Promise<boolean> =>
      (await admin.consumeStats(group, topic)).offsets.every(([, one]) => one.brokerOffset === one.consumerOffset);
    await until(consumed, 'the last member consumes what is left', patienceMs);
    await d.consumer.stop();

    const all = [...javaHeard('a', a.received), ...b.heard, ...javaHeard('c', c.received), ...d.heard];
    const ends = new Map<string, MemberEnd>([['c', { how: 'killed', committed: new Map() }]]);
    for (const { queueId } of queues) {
      const deliveries = all.filter((one) => one.queueId === queueId);
      assert.deepEqual(orderProblems(deliveries, ends, load.sent(queueId)), []);
    }
  });
});

async function joined(condition: () => boolean, what: string): Promise<void> {
  await until(condition, what, patienceMs);
}

/** Sends to each queue in turn until `end`. */
class Load {
  readonly #sent: number[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    private readonly producer: Producer,
    private readonly topic: string,
    private readonly queues: readonly Queue[],
  ) {
    this.#sent = queues.map(() => 0);
    this.#running = this.#run();
  }

  sent(queueId: number): number {
    return this.#sent[queueId]!;
  }

  async more(count: number): Promise<void> {
    const total = (): number => this.#sent.reduce((sum, one) => sum + one, 0);
    const wanted = total() + count;
    await until(() => total() >= wanted, `${count} more messages are sent`, patienceMs);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.producer.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let i = 0; !signal.aborted; i++) {
      const queue = this.queues[i % this.queues.length]!;
      await this.producer.send({ topic: this.topic, body: `message ${i}` }, queue);
      this.#sent[queue.queueId]!++;
      await pause(3, signal);
    }
  }
}

describe('ordered messages that fail', () => {
  const attempts = (messages: readonly InMessage[]): string[] =>
    messages.map(({ properties, reconsumeTimes }) => `${properties['KEYS']}/${reconsumeTimes}`);

  async function failing(
    word: string,
    refusals: number,
    config: Record<string, number>,
  ): Promise<[JavaConsumer, Failing]> {
    const [java, served] = [await driver(), await target()];
    const [topic, group] = [unique(word), unique('group')];
    const [queue] = await createTopic(served, topic, 1);
    const all = { suspendCurrentQueueTimeMillis: 10, ...config };
    const request = { namesrv: served.namesrv, group, topic, orderly: true, refusals, config: all };
    const consumer = await java.pushConsumer(request);
    const producer = await java.producer(served.namesrv);
    const sent = [];
    for (const message of numbered(topic, 2)) sent.push(await producer.send(message, queue));
    await producer.close();
    return [consumer, { topic, group, sent: sent.map(({ msgId }) => msgId) }];
  }

  it('hold their queue: without maxReconsumeTimes none is given up', async () => {
    const served = await target();
    const [consumer, { group }] = await failing('blocked', 20, {});
    const wanted = [0, 1].flatMap((key) => Array.from({ length: 21 }, (_, times) => `k${key}/${times}`));
    assert.deepEqual(attempts(await arrived(consumer, 42)), wanted);
    await consumer.close();
    assert.ok(!(await mqadmin(served, 'topicList')).includes(`%DLQ%${group}`));
  });

  it('go to the dead letters after maxReconsumeTimes, and can be consumed there', async function () {
    this.timeout(120_000);
    const [java, served] = [await driver(), await target()];
    const [consumer, { topic, group, sent }] = await failing('given_up_in_order', 99, { maxReconsumeTimes: 1 });
    assert.deepEqual(attempts(await arrived(consumer, 4)), ['k0/0', 'k0/1', 'k1/0', 'k1/1']);
    const letters = await deadLetters(served, group, 2);
    assert.deepEqual(
      letters.map(({ body }) => body.toString()),
      numbered(topic, 2).map(({ body }) => String(body)),
    );
    for (const [i, letter] of letters.entries()) {
      assert.equal(letter.topic, `%DLQ%${group}`);
      assert.equal(letter.reconsumeTimes, 1);
      assert.equal(letter.properties['RETRY_TOPIC'], topic);
      assert.equal(letter.properties['UNIQ_KEY'], sent[i]);
      assert.equal(letter.properties['ORIGIN_MESSAGE_ID'], sent[i]);
      assert.equal(letter.properties['KEYS'], `k${i}`);
    }
    await consumer.close();
    const reader = await java.pushConsumer({
      namesrv: served.namesrv,
      group: unique('reader'),
      topic: `%DLQ%${group}`,
    });
    assert.deepEqual(
      (await arrived(reader, 2)).map(({ body }) => body.toString()),
      letters.map(({ body }) => body.toString()),
    );
    await reader.close();
  });

  it('go there from a member of ours with the same properties as from a Java member', async function () {
    this.timeout(120_000);
    const served = await target();
    const [consumer, { topic, group }] = await failing('compared', 99, { maxReconsumeTimes: 1 });
    const [fromJava] = await deadLetters(served, group, 2);
    await consumer.close();
    const options = { ...FROM_FIRST, namesrvAddr: served.namesrv, group: unique('group'), maxReconsumeTimes: 1 };
    await using own = new PushConsumer(options);
    await own.subscribe(topic);
    await own.start(() => 'later');
    const [fromOurs] = await deadLetters(served, options.group, 2);
    const shown = ({ properties, reconsumeTimes, flag, sysFlag, body }: InMessage) => ({
      ...{ reconsumeTimes, flag, sysFlag, body: body.toString() },
      // 4.9 delays the dead letter, and then notes its topic.
      properties: { ...properties, MIN_OFFSET: '', MAX_OFFSET: '', REAL_TOPIC: '', REAL_QID: '' },
    });
    assert.deepEqual(shown(fromOurs!), shown(fromJava!));
  });
});

interface Failing {
  readonly topic: string;
  readonly group: string;
  readonly sent: readonly string[];
}

/** What stands in the dead letters of a group; the topic has one queue that can be read and written, as 4.9.7 makes it. */
async function deadLetters(served: Target, group: string, count: number): Promise<InMessage[]> {
  const topic = `%DLQ%${group}`;
  await routed(served, topic);
  const route = (await mqadmin(served, 'topicRoute', '-t', topic)).join('');
  assert.match(route, /"perm":6,/);
  assert.match(route, /"readQueueNums":1,/);
  assert.match(route, /"writeQueueNums":1/);
  const puller = await (await driver()).pullConsumer(served.namesrv, unique('reader'));
  const [queue] = await puller.queues(topic);
  const letters = await puller.drain(queue!, count);
  assert.equal(letters.length, count);
  await puller.close();
  return letters;
}
