import assert from 'node:assert/strict';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { ArrivalRing } from '../../../kernel/ring/arrivals.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import type { QueueReader } from '../../../plugins/reput/queue-reader.js';
import { PullSysFlag, RequestCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import type { Answer, RawClient } from '../../support/raw-client.js';
import { heartbeat, pullAll, pullAsk, pulledOf, send, subscriptionTo, type PullWish } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const HOLD = PullSysFlag.SUSPEND | PullSysFlag.SUBSCRIPTION;

/** A pull that may wait; `state.answer` is there when it does no more. */
function hold(client: RawClient, wish: PullWish = {}): { answer?: Answer; readonly done: Promise<Answer> } {
  const done = client.ask(RequestCode.PULL_MESSAGE, pullAsk({ sysFlag: HOLD, ...wish }));
  const state: { answer?: Answer; readonly done: Promise<Answer> } = { done };
  done.then(
    (answer) => (state.answer = answer),
    () => undefined,
  );
  return state;
}

/** Everything sent before has been looked at. */
async function settled(broker: TestBroker, client: RawClient): Promise<void> {
  const { header } = await send(client, { topic: 'Marker' });
  await until(() => broker.get(Queues).maxOffset('Marker', 0) > header.queueOffset, 'the marker is visible');
  await client.ask(RequestCode.GET_MAX_OFFSET, { ext: { topic: 'T', queueId: '0' } });
}

describe('a held pull', () => {
  let broker: TestBroker;
  let producer: RawClient;
  let consumer: RawClient;
  let topics = 0;
  let topic = '';

  before(async () => {
    broker = await testBroker({ options: { plugins: ['sql92'], heldPullCheckIntervalMs: 20, heldPullsMax: 50 } });
    producer = await broker.connect();
  });

  beforeEach(async () => {
    topic = `H${topics++}`;
    consumer = await broker.connect();
    await send(producer, { topic, queueId: 3 });
  });

  afterEach(() => consumer[Symbol.dispose]());

  after(async () => {
    producer[Symbol.dispose]();
    await broker.stop();
  });

  for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
    it(`is answered by what arrives in its queue, and by nothing else (header form ${serialize})`, async () => {
      const pulls = hold(consumer, { topic, serialize });
      await send(producer, { topic, queueId: 1 });
      await settled(broker, producer);
      assert.equal(pulls.answer, undefined);
      await send(producer, { topic, body: Buffer.from('it') });
      const { code, messages, header } = pulledOf(await pulls.done);
      assert.deepEqual([code, messages.map(({ body }) => body.toString()), header.nextBeginOffset], [0, ['it'], 1]);
      assert.equal((await pulls.done).serialize, serialize);
    });

  it('is answered at once by a message that arrived while it was on its way', async () => {
    for (let i = 0; i < 30; i++) {
      const pulls = hold(consumer, { topic, queueOffset: i });
      await send(producer, { topic, body: Buffer.from(String(i)) });
      assert.equal(pulledOf(await pulls.done).messages[0].body.toString(), String(i));
    }
  });

  it('is not woken by another tag, and then looks behind it', async () => {
    const pulls = hold(consumer, { topic, subscription: 'mine' });
    for (let i = 0; i < 5; i++) await send(producer, { topic, properties: 'TAGS\u0001other' });
    await settled(broker, producer);
    assert.equal(pulls.answer, undefined);
    await send(producer, { topic, properties: 'TAGS\u0001mine', body: Buffer.from('it') });
    const { messages, header } = pulledOf(await pulls.done);
    assert.deepEqual(
      messages.map(({ body, queueOffset }) => [body.toString(), queueOffset]),
      [['it', 5]],
    );
    assert.equal(header.nextBeginOffset, 6);
  });

  it('is not woken by a message that its SQL92 expression turns away', async () => {
    const pulls = hold(consumer, { topic, expressionType: 'SQL92', subscription: 'price > 10' });
    for (const price of ['1', '10', 'x']) await send(producer, { topic, properties: `price\u0001${price}` });
    await send(producer, { topic });
    await settled(broker, producer);
    assert.equal(pulls.answer, undefined);
    await send(producer, { topic, properties: 'price\u000111' });
    assert.deepEqual(
      pulledOf(await pulls.done).messages.map(({ queueOffset }) => queueOffset),
      [4],
    );
  });

  it('is answered 19 after its time, with where the queue ends', async () => {
    const pulls = hold(consumer, { topic, suspendTimeoutMillis: 60 });
    const { code, remark, header } = pulledOf(await pulls.done);
    assert.deepEqual([code, remark, header.nextBeginOffset], [19, 'NO_MESSAGE_IN_QUEUE', 0]);
    await send(producer, { topic });
    await pullAll(producer, 1, { topic });
    const later = pulledOf(await hold(consumer, { topic, queueOffset: 1, suspendTimeoutMillis: 60 }).done);
    assert.deepEqual([later.code, later.remark, later.header.maxOffset], [19, 'OFFSET_OVERFLOW_ONE', 1]);
  });

  it('is answered at its time with 20 when all that came did not match', async () => {
    const pulls = hold(consumer, { topic, subscription: 'mine', suspendTimeoutMillis: 500 });
    await send(producer, { topic, properties: 'TAGS\u0001other' });
    const { code, header } = pulledOf(await pulls.done);
    assert.deepEqual([code, header.nextBeginOffset], [20, 1]);
  });

  it('is gone with its connection', async () => {
    const pulls = hold(consumer, { topic });
    await until(() => anyHeld(broker), 'it is held');
    consumer.reset();
    await consumer.closed;
    await until(() => !anyHeld(broker), 'it is dropped');
    await send(producer, { topic });
    await settled(broker, producer);
    assert.equal(pulls.answer, undefined);
  });

  it('stores the offset that it brings when it begins to wait', async () => {
    const offsets = broker.get(Offsets);
    const sysFlag = HOLD | PullSysFlag.COMMIT_OFFSET;
    const pulls = hold(consumer, { topic, sysFlag, commitOffset: 17, consumerGroup: 'C' });
    await until(() => offsets.query('C', topic, 0) === 17, 'it is stored');
    assert.equal(pulls.answer, undefined);
    offsets.commit('test', 'C', topic, 0, 20);
    await send(producer, { topic });
    await pulls.done;
    assert.equal(offsets.query('C', topic, 0), 20, 'and not again when it is answered');
  });

  it('is one of many: each is answered by its own queue', async () => {
    const pulls = [0, 1, 2].flatMap((queueId) => [
      hold(consumer, { topic, queueId }),
      hold(consumer, { topic, queueId }),
    ]);
    await send(producer, { topic, queueId: 1 });
    await Promise.all([pulls[2].done, pulls[3].done]);
    await settled(broker, producer);
    assert.deepEqual(
      pulls.map(({ answer }) => answer?.code),
      [undefined, undefined, 0, 0, undefined, undefined],
    );
  });

  it('is one too many beyond heldPullsMax, and answered at once', async () => {
    const pulls = Array.from({ length: 55 }, () => hold(consumer, { topic }));
    await until(() => pulls.filter(({ answer }) => answer?.code === 19).length === 5, 'five are answered');
    await settled(broker, producer);
    assert.equal(pulls.filter(({ answer }) => answer === undefined).length, 50);
    await send(producer, { topic });
    await Promise.all(pulls.map(({ done }) => done));
  });

  it('is checked again when it is answered: a subscription that changed meanwhile counts', async () => {
    await heartbeat(consumer, 'S', [subscriptionTo(topic, { subString: 'a' })]);
    const pulls = hold(consumer, { topic, consumerGroup: 'S', sysFlag: PullSysFlag.SUSPEND, subVersion: 1 });
    await until(() => anyHeld(broker), 'it is held');
    await heartbeat(consumer, 'S', [subscriptionTo(topic, { subString: 'b', subVersion: 2 })]);
    await send(producer, { topic, properties: 'TAGS\u0001a' });
    assert.equal((await pulls.done).code, 20);
  });

  it('does not wait without asking to', async () => {
    const { code } = await client19(consumer, topic);
    assert.equal(code, 19);
  });
});

function client19(client: RawClient, topic: string): Promise<Answer> {
  return client.ask(RequestCode.PULL_MESSAGE, pullAsk({ topic, sysFlag: PullSysFlag.SUBSCRIPTION }));
}

/** Whether any pull of the broker waits for an arrival. */
function anyHeld(broker: TestBroker): boolean {
  return new ArrivalRing((broker.get(Queues) as QueueReader).arrivals).wanted;
}

describe('held pulls of a broker', () => {
  it('wait for shortPollingTimeMills when long polling is off, whatever they asked for', async () => {
    const options = { longPollingEnable: false, shortPollingTimeMills: 30 };
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    await send(client, { queueId: 1 });
    assert.equal((await hold(client, { suspendTimeoutMillis: 3_600_000 }).done).code, 19);
  });

  it('are answered 19 when it stops', async () => {
    const broker = await testBroker();
    using client = await broker.connect();
    await send(client, { queueId: 1 });
    const pulls = [hold(client), hold(client, { queueId: 2 })];
    await client19(client, 'T');
    const stopped = broker.stop();
    assert.deepEqual(
      (await Promise.all(pulls.map(({ done }) => done))).map(({ code }) => code),
      [19, 19],
    );
    await stopped;
  });

  it('are woken by a dispatcher on a thread of its own, without the help of the sweep', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: 1 << 20 };
    await using broker = await testBroker({ options, topology: dedicated });
    using client = await broker.connect();
    using producer = await broker.connect();
    await send(producer, { queueId: 1 });
    const begun = systemClock.monoMs();
    for (let queueOffset = 0; queueOffset < 100; queueOffset++) {
      const pulls = hold(client, { queueOffset });
      await send(producer);
      assert.equal(pulledOf(await pulls.done).messages.length, 1);
    }
    assert.ok(systemClock.monoMs() - begun < 4000, 'the sweep comes every 5 s');
  });

  it('are answered with an error, and others are served, when what arrived cannot be read', async () => {
    await using broker = await testBroker({ options: { plugins: ['sql92'], heldPullCheckIntervalMs: 20 } });
    using client = await broker.connect();
    await send(client, { queueId: 1 });
    const pulls = [
      hold(client, { expressionType: 'SQL92', subscription: 'a = 1' }),
      hold(client, { subscription: 'x' }),
    ];
    await client19(client, 'T');
    const entries = (): never => {
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    };
    Object.assign(broker.get(Queues), { entries });
    await send(client, { properties: 'a\u00011\u0002TAGS\u0001x' });
    for (const { done } of pulls) {
      const { code, remark } = await done;
      assert.equal(code, 1);
      assert.match(String(remark), /EIO/);
    }
    assert.equal((await send(client)).code, 0);
  });
});
