import assert from 'node:assert/strict';
import { PushConsumer, TransactionProducer, type TransactionState } from '../../client/index.js';
import { until } from '../support/until.js';
import { patienceMs, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

describe('transactions of the SDK', function () {
  this.timeout(90_000);
  let target: Target;
  const running: { stop(): Promise<void> }[] = [];

  before(async () => {
    target = await startTarget({ options: { transactionTimeOut: 1000, transactionCheckInterval: 1000 } });
  });

  after(async () => {
    for (const one of running) await one.stop();
    await target.stop();
  });

  async function producer(group: string, check: (body: string) => TransactionState): Promise<TransactionProducer> {
    const started = new TransactionProducer({
      namesrvAddr: target.namesrv,
      group,
      checkLocalTransaction: ({ body }) => Promise.resolve(check(body.toString())),
    });
    running.push(started);
    await started.start();
    return started;
  }

  /** Bodies in the order in which they came. */
  async function consumed(topic: string): Promise<string[]> {
    const bodies: string[] = [];
    const consumer = new PushConsumer({ namesrvAddr: target.namesrv, group: unique('CG'), from: 'first' });
    running.push(consumer);
    await consumer.subscribe(topic);
    await consumer.start((batch) => {
      bodies.push(...batch.map(({ body }) => body.toString()));
      return 'success';
    });
    return bodies;
  }

  it('are seen when committed, at once or when the broker asks, and never when rolled back', async () => {
    const topic = unique('SdkTransactions');
    const asked: string[] = [];
    const sender = await producer(unique('PG'), (body) => {
      asked.push(body);
      return body.endsWith('rollback') ? 'rollback' : 'commit';
    });
    const send = (body: string, state: () => TransactionState): Promise<unknown> =>
      sender.sendInTransaction({ topic, body }, () => Promise.resolve(state()));
    await send('commit', () => 'commit');
    await send('rollback', () => 'rollback');
    await send('unknown, then commit', () => 'unknown');
    await send('unknown, then rollback', () => 'unknown');
    await send('thrown, then commit', () => {
      throw new Error('no database');
    });
    const seen = await consumed(topic);
    await until(() => new Set(asked).size === 3 && seen.length >= 3, 'three were asked for, three seen', patienceMs);
    assert.deepEqual([...seen].sort(), ['commit', 'thrown, then commit', 'unknown, then commit']);
    assert.ok(!asked.includes('commit') && !asked.includes('rollback'), `asked for what had ended: ${asked.join()}`);
  });

  it('are ended by another member of the group when their producer is gone', async () => {
    const topic = unique('SdkTransactions');
    const group = unique('PG');
    const first = await producer(group, () => 'unknown');
    await first.sendInTransaction({ topic, body: 'left behind' }, () => Promise.resolve('unknown'));
    await first.stop();
    await producer(group, () => 'commit');
    const seen = await consumed(topic);
    await until(() => seen.length > 0, 'the message is seen', patienceMs);
    assert.deepEqual(seen, ['left behind']);
  });
});
