import assert from 'node:assert/strict';
import { ClientError, PushConsumer, type Listener, type PushConsumerOptions } from '../../client/index.js';
import { decodeHeartbeat } from '../../protocol/bodies/heartbeat.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodeConsumerSendMsgBack } from '../../protocol/headers/consumer-send-msg-back.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

const bodies = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe('PushConsumer', () => {
  let broker: FakeBroker;
  const consumers: PushConsumer[] = [];

  function consumer(options: Partial<PushConsumerOptions> = {}): PushConsumer {
    const made = new PushConsumer({
      namesrvAddr: broker.address,
      group: 'G',
      from: 'first',
      periods: quick,
      stopTimeoutMs: 2000,
      ...options,
    });
    consumers.push(made);
    return made;
  }

  /** Starts a consumer of topic T that notes the bodies it gets. */
  async function begin(listener: Listener | 'success', options: Partial<PushConsumerOptions> = {}): Promise<string[]> {
    const seen: string[] = [];
    const made = consumer(options);
    await made.subscribe('T');
    await made.start((batch, context) => {
      seen.push(...batch.map(({ body }) => body.toString()));
      return listener === 'success' ? 'success' : listener(batch, context);
    });
    return seen;
  }

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
  });

  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((one) => one.stop()));
    await broker.close();
  });

  it('consumes what is there and what comes, and commits', async () => {
    broker.fill('T', 0, bodies(0, 50));
    const seen = await begin('success');
    await until(() => seen.length === 50, 'the backlog was consumed');
    broker.fill('T', 0, bodies(50, 60));
    await until(() => seen.length === 60, 'new messages were consumed');
    assert.deepEqual(seen, bodies(0, 60));
    await until(() => broker.committed.get('T@0') === 60, 'the offset was committed');
  });

  it('goes on where the group was', async () => {
    broker.fill('T', 0, bodies(0, 10));
    broker.committed.set('T@0', 7);
    const seen = await begin('success');
    await until(() => seen.length === 3, 'the rest was consumed');
    assert.deepEqual(seen, bodies(7, 10));
  });

  for (const [from, expected] of [
    ['last', 20],
    ['first', 5],
  ] as const)
    it(`begins at the ${from} offset when the group never consumed`, async () => {
      broker.queue('T', 0).min = 5;
      broker.fill('T', 0, bodies(5, 20));
      await begin('success', { from });
      await until(() => broker.asked(RequestCode.PULL_MESSAGE).length > 0, 'a pull');
      assert.equal(decodePullMessage(broker.asked(RequestCode.PULL_MESSAGE)[0]!.ext).queueOffset, expected);
    });

  it('begins at a time', async () => {
    broker.on(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, (request) => {
      assert.equal(request.ext['timestamp'], '1700000000000');
      return { code: 0, ext: { offset: '3' } };
    });
    broker.fill('T', 0, bodies(0, 5));
    const seen = await begin('success', { from: new Date(1_700_000_000_000) });
    await until(() => seen.length === 2, 'consumed');
    assert.deepEqual(seen, ['m3', 'm4']);
  });

  it('returns what failed to the broker, and goes on', async () => {
    broker.fill('T', 0, bodies(0, 5));
    await begin(([message], context) => {
      context.delayLevel = 2;
      return message!.body.toString() === 'm2' ? 'later' : 'success';
    });
    await until(() => broker.committed.get('T@0') === 5, 'all are done');
    const [back] = broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).map((one) => decodeConsumerSendMsgBack(one.ext));
    assert.equal(back!.group, 'G');
    assert.equal(back!.originTopic, 'T');
    assert.equal(back!.offset, 1002);
    assert.equal(back!.delayLevel, 2);
    assert.equal(back!.maxReconsumeTimes, 16);
  });

  it('takes a thrown error, and an answer that is none, as later', async () => {
    broker.fill('T', 0, bodies(0, 2));
    await begin(([message]) => {
      if (message!.body.toString() === 'm0') throw new Error('no');
      return undefined as never;
    });
    await until(() => broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).length === 2, 'both went back');
  });

  it('consumes the retry topic, and shows the topic a message was sent to', async () => {
    broker.topics.set('%RETRY%G', { queues: 1 });
    broker.fill('%RETRY%G', 0, ['again'], 'RETRY_TOPIC\u0001T\u0002UNIQ_KEY\u0001ID7');
    const topics: string[] = [];
    await begin(([message], context) => {
      topics.push(message!.topic, context.queue.topic, message!.msgId);
      return 'success';
    });
    await until(() => topics.length > 0, 'the retry came');
    assert.deepEqual(topics, ['T', '%RETRY%G', 'ID7']);
  });

  it('takes only messages whose tag is subscribed to, also when hashes are equal', async () => {
    broker.fill('T', 0, ['a'], 'TAGS\u0001Aa');
    broker.fill('T', 0, ['b'], 'TAGS\u0001BB');
    broker.fill('T', 0, ['c'], 'TAGS\u0001Aa');
    const seen: string[] = [];
    const made = consumer();
    await made.subscribe('T', 'Aa || x');
    await made.start(([message]) => {
      seen.push(message!.body.toString());
      return 'success';
    });
    await until(() => broker.committed.get('T@0') === 3, 'all three were passed');
    assert.deepEqual(seen, ['a', 'c']);
    const beat = decodeHeartbeat(broker.asked(RequestCode.HEART_BEAT)[0]!.body).consumerDataSet[0]!;
    const subscription = beat.subscriptionDataSet.find(({ topic }) => topic === 'T')!;
    assert.deepEqual(subscription.tagsSet, ['Aa', 'x']);
    assert.deepEqual(subscription.codeSet, [2112, 120]);
    assert.equal(beat.messageModel, 'CLUSTERING');
    assert.equal(beat.consumeFromWhere, 'CONSUME_FROM_FIRST_OFFSET');
  });

  it('gives batches of the size asked for', async () => {
    broker.fill('T', 0, bodies(0, 10));
    const sizes: number[] = [];
    await begin(
      (batch) => {
        sizes.push(batch.length);
        return 'success';
      },
      { batchMax: 4 },
    );
    await until(() => broker.committed.get('T@0') === 10, 'all were consumed');
    assert.deepEqual(sizes, [4, 4, 2]);
  });

  it('holds no more of a queue than it may, and goes on when there is room', async () => {
    broker.fill('T', 0, bodies(0, 100));
    const open: (() => void)[] = [];
    await begin(() => new Promise((resolve) => open.push(() => resolve('success'))), {
      heldMessagesMax: 20,
      concurrency: 100,
      pullMax: 10,
    });
    await until(() => open.length === 30, 'flow control holds at the limit and one pull more');
    const pulls = broker.asked(RequestCode.PULL_MESSAGE).length;
    await until(() => broker.asked(RequestCode.HEART_BEAT).length > 2, 'some time has passed');
    assert.equal(broker.asked(RequestCode.PULL_MESSAGE).length, pulls);
    for (const one of open.splice(0)) one();
    await until(() => open.length === 30, 'the next ones came');
    for (const one of open.splice(0)) one();
    await until(() => open.length > 0, 'and the next');
    for (;;) {
      for (const one of open.splice(0)) one();
      if (broker.committed.get('T@0') === 100) break;
      await until(() => open.length > 0 || broker.committed.get('T@0') === 100, 'the rest');
    }
  });

  it('runs no more listeners at once than it may', async () => {
    broker.fill('T', 0, bodies(0, 30));
    let running = 0;
    let most = 0;
    const seen = await begin(
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return 'success' as const;
      },
      { concurrency: 3 },
    );
    await until(() => seen.length === 30, 'all were consumed');
    assert.equal(most, 3);
  });

  it('pauses and resumes', async () => {
    const made = consumer();
    const seen: string[] = [];
    await made.subscribe('T');
    await made.start(([message]) => {
      seen.push(message!.body.toString());
      return 'success';
    });
    await until(() => broker.asked(RequestCode.PULL_MESSAGE).length > 2, 'it pulls');
    made.pause();
    const asked = broker.asked(RequestCode.PULL_MESSAGE).length;
    await until(() => broker.asked(RequestCode.HEART_BEAT).length > 3, 'some time has passed');
    assert.ok(broker.asked(RequestCode.PULL_MESSAGE).length <= asked + 1);
    made.resume();
    broker.fill('T', 0, ['x']);
    await until(() => seen.length === 1, 'it pulls again', 5000);
  });

  it('waits for its listeners when it stops, commits what they did, and leaves', async () => {
    broker.fill('T', 0, bodies(0, 3));
    let finish: (() => void) | undefined;
    const made = consumer({ concurrency: 1, periods: { ...quick, persistMs: 600_000 } });
    await made.subscribe('T');
    await made.start(() => new Promise((resolve) => (finish = () => resolve('success'))));
    await until(() => finish !== undefined, 'a listener runs');
    let stopped = false;
    const stopping = made.stop().then(() => (stopped = true));
    await until(() => broker.asked(RequestCode.HEART_BEAT).length > 2, 'some time has passed');
    assert.equal(stopped, false);
    finish!();
    await stopping;
    assert.deepEqual(broker.commits('T', 0), [1]);
    assert.equal(broker.asked(RequestCode.UNREGISTER_CLIENT).length, 1);
    await until(() => broker.server.connections.size === 0, 'the connections were closed');
  });

  it('tells the broker its filter expression, and does not start when that is refused', async () => {
    broker.on(RequestCode.CHECK_CLIENT_CONFIG, { code: ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark: 'a ><' });
    const made = consumer();
    await made.subscribe('T', { type: 'SQL92', expression: 'a ><' });
    await assert.rejects(
      made.start(() => 'success'),
      (error: unknown) => error instanceof ClientError && error.responseCode === 23 && /a ></.test(error.message),
    );
    await until(() => broker.server.connections.size === 0, 'the connections were closed');
  });

  it('says hello again when the broker forgot its subscription', async () => {
    const pull = broker.server.script(RequestCode.PULL_MESSAGE)!;
    let refused = 0;
    broker.on(RequestCode.PULL_MESSAGE, (request, connection) =>
      refused++ === 0 ? { code: ResponseCode.SUBSCRIPTION_NOT_EXIST, remark: 'who?' } : pull(request, connection),
    );
    broker.fill('T', 0, ['x']);
    const seen = await begin('success', { periods: { ...quick, heartbeatMs: 600_000 } });
    await until(() => seen.length === 1, 'consumed');
    assert.ok(broker.asked(RequestCode.HEART_BEAT).length >= 2);
  });

  it('takes up a topic when it appears', async () => {
    broker.topics.delete('T');
    const seen = await begin('success');
    broker.topics.set('T', { queues: 2 });
    broker.fill('T', 1, ['x']);
    await until(() => seen.length === 1, 'consumed');
  });

  it('changes and ends a subscription while it runs, with growing versions', async () => {
    const seen = await begin('success');
    const made = consumers[0]!;
    broker.topics.set('U', { queues: 1 });
    broker.fill('U', 0, ['u']);
    await made.subscribe('U');
    await until(() => seen.includes('u'), 'the new topic is consumed');
    await made.subscribe('U', 'tag');
    const versions = broker
      .asked(RequestCode.HEART_BEAT)
      .map((one) =>
        decodeHeartbeat(one.body).consumerDataSet[0]!.subscriptionDataSet.find(({ topic }) => topic === 'U'),
      )
      .filter((one) => one !== undefined)
      .map(({ subVersion }) => subVersion);
    assert.ok(versions.at(-1)! > versions[0]!);
    await made.unsubscribe('U');
    assert.deepEqual(
      made.queues.map(({ topic }) => topic),
      ['T'],
    );
  });

  it('needs a subscription, and a name server', async () => {
    await assert.rejects(
      consumer().start(() => 'success'),
      /subscribes to no topic/,
    );
    const lost = consumer({ namesrvAddr: '127.0.0.1:1' });
    await lost.subscribe('T');
    await assert.rejects(
      lost.start(() => 'success'),
      (error: unknown) => error instanceof ClientError && error.code === 'NAMESRV_UNREACHABLE',
    );
  });

  it('refuses options out of range by name', () => {
    assert.throws(() => consumer({ concurrency: 0 }), /concurrency is 0, not within 1 … 1000/);
    assert.throws(() => consumer({ group: 'DEFAULT_CONSUMER' }), /nobody chose/);
  });

  it('gives up a listener that takes too long, and sends its message back', async () => {
    broker.fill('T', 0, bodies(0, 2));
    const open: (() => void)[] = [];
    await begin(
      ([message]) =>
        message!.body.toString() === 'm0' ? new Promise((resolve) => open.push(() => resolve('later'))) : 'success',
      { consumeTimeoutMs: 50 },
    );
    await until(() => broker.committed.get('T@0') === 2, 'the slow message does not hold the queue');
    assert.equal(decodeConsumerSendMsgBack(broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK)[0]!.ext).delayLevel, 3);
    open[0]!();
    await until(() => broker.asked(RequestCode.HEART_BEAT).length > 2, 'some time has passed');
    assert.equal(broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).length, 1);
  });
});
