import assert from 'node:assert/strict';
import { startBroker, type EmbeddedBroker } from '../../cli/embedded.js';
import {
  Producer,
  PushConsumer,
  TransactionProducer,
  type OutgoingMessage,
  type ReceivedMessage,
  type TransactionState,
} from '../../client/index.js';
import { until } from '../support/until.js';

/** The clients against a broker in this process: what the client asks for is what the broker does. */
describe('delayed messages and transactions of the client', () => {
  let broker: EmbeddedBroker;
  const running: { stop(): Promise<void> }[] = [];

  before(async () => {
    broker = await startBroker({ options: { transactionTimeOut: 200, transactionCheckInterval: 200 } });
  });

  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
  });

  after(() => broker.stop());

  async function consumed(topic: string): Promise<ReceivedMessage[]> {
    const messages: ReceivedMessage[] = [];
    const consumer = new PushConsumer({ namesrvAddr: broker.namesrvAddress, group: `C-${topic}`, from: 'first' });
    running.push(consumer);
    await consumer.subscribe(topic);
    await consumer.start((batch) => {
      messages.push(...batch);
      return 'success';
    });
    return messages;
  }

  for (const [name, delay, least] of [
    ['delayLevel', { delayLevel: 1 }, 1000],
    ['delayMs', { delayMs: 300 }, 300],
    ['deliverAt', { deliverAt: new Date(Date.UTC(2020, 0, 1)) }, 0],
  ] as const satisfies readonly (readonly [string, Partial<OutgoingMessage>, number])[])
    it(`${name}: it comes when it is due, as it was sent`, async () => {
      const producer = new Producer({ namesrvAddr: broker.namesrvAddress, group: 'PG' });
      running.push(producer);
      await producer.start();
      await producer.send({ topic: name, body: name, tag: 'red', ...delay });
      const messages = await consumed(name);
      await until(() => messages.length === 1, 'the message came');
      const [{ bornTimestamp, storeTimestamp, topic, tag, body }] = messages as [ReceivedMessage];
      assert.deepEqual([topic, tag, body.toString()], [name, 'red', name]);
      assert.ok(storeTimestamp - bornTimestamp >= least, `stored after ${storeTimestamp - bornTimestamp} ms`);
    });

  it('transactions: what is committed is seen, at once or after a check, what is rolled back is not', async () => {
    const asked: string[] = [];
    const producer = new TransactionProducer({
      namesrvAddr: broker.namesrvAddress,
      group: 'TG',
      checkLocalTransaction: ({ body }) => {
        asked.push(body.toString());
        return Promise.resolve(body.toString() === 'unknown, then commit' ? 'commit' : 'rollback');
      },
    });
    running.push(producer);
    await producer.start();
    const send = (body: string, state: TransactionState): Promise<unknown> =>
      producer.sendInTransaction({ topic: 'T', body }, () => Promise.resolve(state));
    await send('rollback', 'rollback');
    await send('unknown, then rollback', 'unknown');
    await send('unknown, then commit', 'unknown');
    await send('commit', 'commit');
    const messages = await consumed('T');
    await until(() => new Set(asked).size === 2 && messages.length >= 2, 'two were asked for, two seen', 20_000);
    assert.deepEqual(messages.map(({ body }) => body.toString()).sort(), ['commit', 'unknown, then commit']);
  });
});
