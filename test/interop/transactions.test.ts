import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { RequestCode } from '../../protocol/codes.js';
import { decodeGetMaxOffsetResponse, encodeGetMaxOffset } from '../../protocol/headers/get-max-offset.js';
import { encodeGetProducerConnectionList } from '../../protocol/headers/get-producer-connection-list.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import { Driver, type InMessage, type Queue, type TransactionProducer } from './support/driver.js';
import { createTopic, driver, keysOf, patienceMs, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

const COMMITTED = 8;
const checkEveryMs = 400;

/** Asked soon and often; nothing here comes near the limit of checks. */
const options = { transactionTimeOut: checkEveryMs, transactionCheckInterval: checkEveryMs, transactionCheckMax: 60 };

describe('transactions of the Java client', function () {
  this.timeout(120_000);
  let served: Target;
  let java: Driver;

  before(async () => {
    [java, served] = [await driver(), await startTarget({ options })];
  });
  after(() => served?.stop());

  it('end as the local transaction says, or as the answer to a check does', async () => {
    const [queue, producer] = await begin();
    const message = (keys: string) => ({ topic: queue.topic, body: `body of ${keys}`, keys, tags: 'a' });
    const committed = await producer.send(message('k0'), 'COMMIT_MESSAGE');
    await producer.send(message('k1'), 'ROLLBACK_MESSAGE');
    await producer.send(message('k2'), 'UNKNOW', 'ROLLBACK_MESSAGE');
    const late = await producer.send(message('k3'), 'UNKNOW', 'COMMIT_MESSAGE');
    await producer.answerChecks();
    const found = await messagesOf(queue, 2);
    assert.deepEqual(keysOf(found), ['k0', 'k3']);
    for (const [i, sent] of [committed, late].entries()) {
      const { msgId, sysFlag, properties, body } = found[i] as InMessage;
      assert.deepEqual([msgId, sysFlag, properties['TRAN_MSG']], [sent.msgId, COMMITTED, 'true']);
      assert.deepEqual([body.toString(), properties['TAGS']], [`body of ${i === 0 ? 'k0' : 'k3'}`, 'a']);
    }
    assert.deepEqual(
      [await producer.checksOf('k0'), await producer.checksOf('k1')],
      [0, 0],
      'these were never unknown',
    );
    await nothingMoreComes(queue, producer, 2);
    await producer.close();
  });

  it('of a producer that died between half and end are answered by another instance of its group', async () => {
    const [queue, survivor, group] = await begin();
    const dying = await Driver.start();
    const producer = await dying.transactionProducer(served.namesrv, group);
    const sending = producer
      .send({ topic: queue.topic, body: 'orphan', keys: 'k0' }, 'HELD', 'COMMIT_MESSAGE')
      .catch(() => undefined);
    await until(async () => (await producer.checksOf('k0')) > 0, 'the half message is stored', patienceMs);
    await dying.stop();
    await sending;
    assert.deepEqual(await endsOf(queue), 0);
    await survivor.answerChecks();
    assert.deepEqual(keysOf(await messagesOf(queue, 1)), ['k0']);
    await nothingMoreComes(queue, survivor, 1);
    await survivor.close();
  });

  it('that last longer than the check delay are delivered once, though checks were answered meanwhile (B22)', async () => {
    const [queue, producer] = await begin();
    const sending = producer.send({ topic: queue.topic, body: 'slow', keys: 'k0' }, 'HELD', 'COMMIT_MESSAGE');
    await until(async () => (await producer.checksOf('k0')) >= 2, 'two checks were answered UNKNOW', patienceMs);
    await producer.release();
    const { msgId } = await sending;
    await messagesOf(queue, 1);
    const asked = await producer.checksOf('k0');
    await producer.answerChecks();
    await nothingMoreComes(queue, producer, 1);
    const found = await messagesOf(queue, 1);
    if (served.kind === 'kernel') {
      assert.equal(found.length, 1);
      assert.ok((await producer.checksOf('k0')) <= asked + 1, 'at most the check in flight came after the commit');
    }
    assert.deepEqual(new Set(found.map((message) => message.msgId)), new Set([msgId]), '4.9.7 delivers it again');
    await producer.close();
  });

  /** A topic of one queue, and a producer of a group of its own that is known to the broker. */
  async function begin(): Promise<[Queue, TransactionProducer, string]> {
    const topic = unique('transactions');
    const group = unique('tx_group');
    const [queue] = await createTopic(served, topic, 1);
    assert.ok(queue);
    const producer = await java.transactionProducer(served.namesrv, group);
    using client = await RawClient.connect(served.broker);
    const ext = encodeGetProducerConnectionList({ producerGroup: group });
    const known = async () => (await client.ask(RequestCode.GET_PRODUCER_CONNECTION_LIST, { ext })).code === 0;
    await until(known, `the broker knows a producer of ${group}`, patienceMs);
    return [queue, producer, group];
  }

  async function messagesOf(queue: Queue, count: number): Promise<InMessage[]> {
    const reader = await java.pullConsumer(served.namesrv, unique('reader'));
    await until(async () => (await endsOf(queue)) >= count, `${count} messages of ${queue.topic}`, patienceMs);
    const found = await reader.drain(queue, count);
    await reader.close();
    return found;
  }

  /** What would still come had come by the time that a later half message was asked about three times. */
  async function nothingMoreComes(queue: Queue, producer: TransactionProducer, count: number): Promise<void> {
    await producer.send({ topic: queue.topic, body: 'never ends', keys: 'fence' }, 'UNKNOW', 'UNKNOW');
    await until(async () => (await producer.checksOf('fence')) >= 3, 'three more rounds of checks', patienceMs);
    if (served.kind === 'kernel') assert.equal(await endsOf(queue), count);
  }

  function endsOf({ topic, queueId }: Queue): Promise<number> {
    return maxOffset(served, topic, queueId);
  }
});

async function maxOffset(target: Target, topic: string, queueId: number): Promise<number> {
  using client = await RawClient.connect(target.broker);
  const { ext } = await client.ask(RequestCode.GET_MAX_OFFSET, { ext: encodeGetMaxOffset({ topic, queueId }) });
  return decodeGetMaxOffsetResponse(ext).offset;
}
