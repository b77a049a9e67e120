import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PushConsumer, type Listener, type PushConsumerOptions } from '../../client/index.js';
import { decodeLockBatchRequestBody } from '../../protocol/bodies/lock-batch.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

const bodies = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

/** A listener that answers when it is told to. */
class Held {
  readonly seen: string[] = [];
  readonly #open: ((result: 'success' | 'later') => void)[] = [];
  readonly listener: Listener = ([message]) => {
    this.seen.push(message!.body.toString());
    return new Promise((resolve) => this.#open.push(resolve));
  };

  get running(): number {
    return this.#open.length;
  }

  answer(result: 'success' | 'later' = 'success'): void {
    for (const open of this.#open.splice(0)) open(result);
  }
}

describe('PushConsumer, orderly', () => {
  let broker: FakeBroker;
  const consumers: PushConsumer[] = [];

  async function begin(listener: Listener, options: Partial<PushConsumerOptions> = {}): Promise<PushConsumer> {
    const made = new PushConsumer({
      namesrvAddr: broker.address,
      group: 'G',
      from: 'first',
      orderly: true,
      periods: quick,
      stopTimeoutMs: 100,
      suspendCurrentQueueMs: 10,
      ...options,
    });
    consumers.push(made);
    await made.subscribe('T');
    await made.start(listener);
    return made;
  }

  /** Time enough for what must not happen. */
  async function someTime(): Promise<void> {
    const beats = broker.asked(RequestCode.HEART_BEAT).length;
    await until(() => broker.asked(RequestCode.HEART_BEAT).length >= beats + 2, 'some time has passed');
  }

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
  });

  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((one) => one.stop()));
    await broker.close();
  });

  it('consumes one message of a queue at a time, in order, and several queues side by side', async () => {
    broker.topics.set('T', { queues: 3 });
    for (const queueId of [0, 1, 2]) broker.fill('T', queueId, bodies(0, 20));
    const running = new Map<number, number>();
    const seen = new Map<number, string[]>();
    let most = 0;
    await begin(async ([message]) => {
      const { queueId } = message!;
      running.set(queueId, (running.get(queueId) ?? 0) + 1);
      assert.equal(running.get(queueId), 1);
      most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
      await new Promise((resolve) => setImmediate(resolve));
      running.set(queueId, 0);
      seen.set(queueId, [...(seen.get(queueId) ?? []), message!.body.toString()]);
      return 'success' as const;
    });
    await until(
      () => [0, 1, 2].every((id) => broker.committed.get(`T@${id}`) === 20),
      'all are consumed and committed',
    );
    for (const id of [0, 1, 2]) assert.deepEqual(seen.get(id), bodies(0, 20));
    assert.ok(most > 1, 'queues do not wait for each other');
  });

  it('offers a failed message again, in place, and what comes after it waits', async () => {
    broker.fill('T', 0, bodies(0, 3));
    const seen: string[] = [];
    await begin(([message]) => {
      seen.push(`${message!.body.toString()}/${message!.reconsumeTimes}`);
      if (message!.body.toString() === 'm1' && message!.reconsumeTimes < 20) throw new Error('not yet');
      return 'success';
    });
    await until(() => broker.committed.get('T@0') === 3, 'all are done');
    assert.deepEqual(seen, ['m0/0', ...Array.from({ length: 21 }, (_, i) => `m1/${i}`), 'm2/0']);
    assert.equal(broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).length, 0);
    assert.equal(broker.asked(RequestCode.SEND_MESSAGE_V2).length, 0);
  });

  it('lets the listener say how long the queue rests', async () => {
    broker.fill('T', 0, bodies(0, 2));
    let calls = 0;
    await begin(
      (_, context) => {
        if (++calls > 1) return 'success';
        assert.equal(context.suspendMs, 30_000);
        context.suspendMs = 10;
        return 'later';
      },
      { suspendCurrentQueueMs: 30_000 },
    );
    await until(() => broker.committed.get('T@0') === 2, 'all are done');
  });

  it('gives a message up to the dead letters after maxReconsumeTimes, as 4.9 does, and goes on', async () => {
    broker.topics.set('%RETRY%G', { queues: 1 });
    broker.fill('T', 0, ['m0'], 'UNIQ_KEY\u0001ID7\u0002TAGS\u0001a');
    broker.fill('T', 0, ['m1']);
    const seen: string[] = [];
    await begin(
      ([message], { queue }) => {
        if (queue.topic === 'T') seen.push(message!.body.toString());
        return message!.body.toString() === 'm0' ? 'later' : 'success';
      },
      { maxReconsumeTimes: 2 },
    );
    await until(() => broker.committed.get('T@0') === 2, 'the queue goes on');
    assert.deepEqual(seen, ['m0', 'm0', 'm0', 'm1']);
    const [sent] = broker.asked(RequestCode.SEND_MESSAGE_V2).map((request) => decodeSendMessageV2(request.ext));
    assert.equal(sent!.topic, '%RETRY%G');
    assert.equal(sent!.reconsumeTimes, 2);
    assert.equal(sent!.maxReconsumeTimes, 2);
    const properties = parseProperties(sent!.properties ?? '');
    assert.equal(properties.get('RETRY_TOPIC'), 'T');
    assert.equal(properties.get('ORIGIN_MESSAGE_ID'), 'ID7');
    assert.equal(properties.get('UNIQ_KEY'), 'ID7');
    assert.equal(properties.get('TAGS'), 'a');
    assert.equal(properties.get('DELAY'), '5');
  });

  it('keeps a message that cannot be given up', async () => {
    broker.topics.set('%RETRY%G', { queues: 1 });
    broker.fill('T', 0, bodies(0, 2));
    broker.on(RequestCode.SEND_MESSAGE_V2, { code: ResponseCode.SYSTEM_ERROR, remark: 'no' });
    const seen: string[] = [];
    await begin(([message]) => (seen.push(message!.body.toString()), 'later'), { maxReconsumeTimes: 0 });
    await until(() => broker.asked(RequestCode.SEND_MESSAGE_V2).length > 5, 'some attempts');
    assert.deepEqual([...new Set(seen)], ['m0']);
    assert.notEqual(broker.committed.get('T@0'), 1);
  });

  it('does not touch a queue that another member has locked, and takes it when it is free', async () => {
    broker.locks.set('T@0', 'other');
    broker.fill('T', 0, bodies(0, 3));
    const seen: string[] = [];
    await begin(([message]) => (seen.push(message!.body.toString()), 'success'));
    await someTime();
    assert.deepEqual(seen, []);
    assert.equal(broker.asked(RequestCode.PULL_MESSAGE).length, 0);
    broker.committed.set('T@0', 2);
    broker.locks.delete('T@0');
    await until(() => seen.length > 0, 'the queue is taken');
    assert.deepEqual(seen, ['m2'], 'it goes on where the other one was');
  });

  it('hands a queue over when its listener has ended: committed first, then unlocked', async () => {
    broker.topics.set('T', { queues: 2 });
    for (const id of [0, 1]) broker.fill('T', id, bodies(0, 3));
    const [first, second] = [new Held(), new Held()];
    const one = await begin(first.listener, { periods: { ...quick, persistMs: 600_000 } });
    await until(() => first.running === 2, 'both queues are at work');
    await begin(second.listener, { periods: { ...quick, persistMs: 600_000 } });
    const moved = [...broker.locks.keys()].length;
    assert.equal(moved, 2);
    await someTime();
    assert.equal(second.running, 0, 'nothing is consumed twice at once');
    first.answer();
    await until(() => second.running === 1, 'the second has one queue');
    assert.deepEqual(second.seen, ['m1'], 'and begins behind what is done');
    await until(() => one.queues.length === 1, 'the first has the other');
    first.answer();
    second.answer();
  });

  it('waits for its listeners when it stops, commits what they did, then unlocks and leaves', async () => {
    broker.fill('T', 0, bodies(0, 3));
    const held = new Held();
    const options = { periods: { ...quick, persistMs: 600_000 }, stopTimeoutMs: 10_000 };
    const made = await begin(held.listener, options);
    await until(() => held.running === 1, 'a listener runs');
    const stopping = made.stop();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(broker.locks.size, 1);
    held.answer();
    await stopping;
    assert.deepEqual(broker.commits('T', 0), [1]);
    assert.equal(broker.locks.size, 0);
    const order = broker.server.requests.map(({ code }) => code);
    const at = (code: number) => order.lastIndexOf(code);
    assert.ok(at(RequestCode.UPDATE_CONSUMER_OFFSET) < at(RequestCode.UNLOCK_BATCH_MQ));
    assert.ok(at(RequestCode.UNLOCK_BATCH_MQ) < at(RequestCode.UNREGISTER_CLIENT));
    assert.deepEqual(held.seen, ['m0']);
  });

  it('renews its locks, all of a broker with one request', async () => {
    broker.topics.set('T', { queues: 4 });
    await begin(() => 'success', { periods: { ...quick, lockMs: 10 } });
    const asked = () => broker.asked(RequestCode.LOCK_BATCH_MQ).map(({ body }) => decodeLockBatchRequestBody(body));
    await until(() => asked().length > 4, 'renewed');
    for (const { mqSet, consumerGroup } of asked()) {
      assert.equal(consumerGroup, 'G');
      assert.equal(mqSet.length, 4);
    }
  });

  it('stops at once with a queue that another member has got, and what ran of it does not count', async () => {
    broker.fill('T', 0, bodies(0, 5));
    const held = new Held();
    await begin(held.listener, { periods: { ...quick, lockMs: 10 } });
    await until(() => held.running === 1, 'a listener runs');
    broker.locks.set('T@0', 'other');
    const asked = broker.asked(RequestCode.LOCK_BATCH_MQ).length;
    await until(() => broker.asked(RequestCode.LOCK_BATCH_MQ).length > asked + 1, 'the loss was noticed');
    held.answer();
    await someTime();
    assert.deepEqual(held.seen, ['m0']);
    assert.equal(broker.committed.get('T@0') ?? 0, 0);
    broker.locks.delete('T@0');
    await until(() => held.seen.length === 2, 'it is asked for again');
    assert.deepEqual(held.seen, ['m0', 'm0']);
    held.answer();
  });

  it('consumes nothing on a lock that was not renewed for too long', async () => {
    const clock = new FakeClock();
    broker.fill('T', 0, bodies(0, 5));
    const held = new Held();
    await begin(held.listener, { clock });
    await until(() => held.running === 1, 'a listener runs');
    broker.on(RequestCode.LOCK_BATCH_MQ, { code: ResponseCode.SYSTEM_BUSY, remark: 'not now' });
    clock.advance(30_001);
    held.answer();
    await someTime();
    assert.deepEqual(held.seen, ['m0'], 'the next one is not begun');
  });

  it('an offset that is reset waits for the listener that runs, then begins there', async () => {
    broker.fill('T', 0, bodies(0, 5));
    const held = new Held();
    const made = await begin(held.listener);
    await until(() => held.running === 1, 'a listener runs');
    const table = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:3}}`;
    const ext = { topic: 'T', group: 'G', timestamp: '0', isForce: 'true' };
    broker.server.push(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, ext, true, Buffer.from(table));
    await someTime();
    assert.deepEqual(held.seen, ['m0']);
    held.answer();
    await until(() => held.running === 1, 'the next one');
    assert.deepEqual(held.seen, ['m0', 'm3']);
    const stopping = made.stop();
    held.answer();
    await stopping;
    assert.equal(broker.committed.get('T@0'), 4);
  });

  it('broadcasting: in order without locks; what failed too often is dropped', async () => {
    broker.fill('T', 0, bodies(0, 3));
    const seen: string[] = [];
    const offsetDir = await mkdtemp(path.join(tmpdir(), 'orderly-'));
    const made = await begin(([message]) => (seen.push(message!.body.toString()), 'later'), {
      model: 'broadcasting',
      maxReconsumeTimes: 1,
      offsetDir,
    });
    await until(() => seen.length === 6, 'all were offered twice');
    assert.deepEqual(seen, ['m0', 'm0', 'm1', 'm1', 'm2', 'm2']);
    assert.equal(broker.asked(RequestCode.LOCK_BATCH_MQ).length, 0);
    await made.stop();
    await rm(offsetDir, { recursive: true });
  });
});
