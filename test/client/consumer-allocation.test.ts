import assert from 'node:assert/strict';
import { circleRule, configRule, PushConsumer, type AllocationRule, type Listener } from '../../client/index.js';
import type { OffsetStore } from '../../client/consumer/offset-store.js';
import { Rebalancer, type RebalancerOptions, type RebalancerParts } from '../../client/consumer/rebalancer.js';
import circlePlugin from '../../plugins/allocation/circle/index.js';
import { RequestCode } from '../../protocol/codes.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import { FakeClock } from '../support/fake-clock.js';
import { recordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

describe('PushConsumer with an allocation rule', () => {
  let broker: FakeBroker;
  const consumers: PushConsumer[] = [];
  const logger = recordingLogger();

  async function begin(
    allocation: AllocationRule,
    listener: Listener = () => 'success',
    concurrency = 20,
  ): Promise<PushConsumer> {
    const consumer = new PushConsumer({
      ...{ namesrvAddr: broker.address, group: 'G', from: 'first', periods: quick, logger, allocation, concurrency },
    });
    consumers.push(consumer);
    await consumer.subscribe('T');
    await consumer.start(listener);
    return consumer;
  }

  const idsOf = ({ queues }: PushConsumer): string => queues.map(({ queueId }) => queueId).sort().join(); // prettier-ignore

  beforeEach(async () => {
    logger.lines.length = 0;
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 4 });
  });

  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((one) => one.stop()));
    await broker.close();
  });

  it('shares out by the rule it is given', async () => {
    const members = [await begin(circleRule), await begin(circleRule)];
    await until(() => members.map(idsOf).sort().join(' ') === '0,2 1,3', 'dealt like cards');
  });

  it('takes the queues it was given, of all topics', async () => {
    broker.topics.set('U', { queues: 4 });
    const given = [
      { topic: 'T', brokerName: 'broker-a', queueId: 2 },
      { topic: 'U', brokerName: 'broker-a', queueId: 1 },
      { topic: 'U', brokerName: 'gone', queueId: 0 },
    ];
    const consumer = await begin(configRule(given));
    await consumer.subscribe('U');
    await until(() => consumer.queues.length === 2, 'it has both');
    assert.deepEqual([...consumer.queues], given.slice(0, 2));
    assert.deepEqual(
      logger.lines.filter(({ level }) => level === 'warn'),
      [],
    );
  });

  it('gives its listener nothing more of a queue that it lost, and begins again where it had committed', async () => {
    broker.topics.set('T', { queues: 1 });
    broker.fill('T', 0, ['m0', 'm1', 'm2']);
    let mine = true;
    let answer!: () => void;
    const answered = new Promise<'success'>((resolve) => (answer = () => resolve('success')));
    const seen: string[] = [];
    const consumer = await begin(
      { name: 'MINE', allocate: (_group, _id, queues) => (mine ? [...queues] : []) },
      ([one]) => {
        seen.push(one!.body.toString());
        return answered;
      },
      1,
    );
    await until(() => seen.length === 1, 'the listener runs');
    mine = false;
    await until(() => consumer.queues.length === 0, 'the queue is lost');
    answer();
    mine = true;
    await until(() => seen.length === 4, 'it has the queue again');
    assert.deepEqual(seen, ['m0', 'm0', 'm1', 'm2']);
  });

  it('refuses an option that is no rule', () => {
    for (const allocation of [{}, null, circlePlugin, 'circle'] as unknown as AllocationRule[])
      assert.throws(() => new PushConsumer({ namesrvAddr: broker.address, group: 'G', allocation }), {
        code: 'ILLEGAL_ARGUMENT',
        message: /allocation is no rule/,
      });
  });

  it('keeps what it has while the rule throws or answers nonsense, and says which rule it is', async () => {
    let answer: AllocationRule['allocate'] = (_group, _id, queues) => queues.slice(0, 2);
    const consumer = await begin({ name: 'MINE', allocate: (...question) => answer(...question) });
    await until(() => idsOf(consumer) === '0,1', 'its queues');
    for (const [nonsense, problem] of [
      [() => assert.fail('boom'), /rule MINE threw boom/],
      [(_group, _id, [queue]) => [{ ...queue!, queueId: 99 }], /rule MINE answered T@broker-a@99, no queue/],
      [(_group, _id, [queue]) => [queue!, queue!], /rule MINE answered T@broker-a@0 twice/],
    ] as readonly (readonly [AllocationRule['allocate'], RegExp])[]) {
      answer = nonsense;
      const told = (): boolean => logger.lines.some(({ fields }) => problem.test(String(fields['problem'])));
      await until(told, `the log says ${String(problem)}`);
      assert.equal(idsOf(consumer), '0,1');
    }
    answer = (_group, _id, queues) => queues.slice(1);
    await until(() => idsOf(consumer) === '1,2,3', 'it goes on when the rule does');
    const pulled = broker.asked(RequestCode.PULL_MESSAGE).map(({ ext }) => decodePullMessage(ext).queueId);
    assert.ok(!pulled.includes(99));
  });
});

describe('Rebalancer', () => {
  it('stops all queues that it loses before it commits the first', async () => {
    let topics = ['T'];
    let commit!: () => void;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const offsets = { forget: () => undefined, persist: () => committed } as unknown as OffsetStore;
    const queueDatas = [{ brokerName: 'b', readQueueNums: 3, writeQueueNums: 3, perm: 6, topicSysFlag: 0 }];
    const core = {
      routes: { find: () => Promise.resolve({ queueDatas, brokerDatas: [] }) },
      clock: new FakeClock(),
      logger: recordingLogger(),
    } as unknown as RebalancerParts['core'];
    const parts: Partial<RebalancerParts> = {
      ...{ core, offsets, signal: new AbortController().signal, topics: () => topics },
      startOffset: () => Promise.resolve(0),
      start: () => undefined,
    };
    const options: Partial<RebalancerOptions> = { group: 'G', broadcasting: true };
    const rebalancer = new Rebalancer(options as RebalancerOptions, parts as RebalancerParts);
    await rebalancer.run();
    const { processes } = rebalancer;
    assert.equal(processes.length, 3);
    topics = [];
    const run = rebalancer.run();
    await until(() => processes.some(({ dropped }) => dropped), 'it gives up');
    assert.ok(processes.every(({ dropped }) => dropped));
    commit();
    await run;
    assert.equal(rebalancer.processes.length, 0);
  });
});
