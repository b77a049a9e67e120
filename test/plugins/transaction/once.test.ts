import assert from 'node:assert/strict';
import { MessageWriter } from '../../../plugins/commitlog/contract.js';
import { Decided } from '../../../plugins/transaction/contract.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import {
  COMMIT,
  end,
  ended,
  HALF_PROPERTIES,
  halfOf,
  ROLLBACK,
  sendHalf,
  stored,
  type Half,
} from '../../support/transactions.js';

/** Puts a copy back, as a check does before it asks. */
async function copyOf(broker: TestBroker, origin: number, properties: Record<string, string> = {}): Promise<Half> {
  const { queueOffset, physicalOffset } = await broker.get(MessageWriter).append({
    ...{ topic: 'RMQ_SYS_TRANS_HALF_TOPIC', queueId: 0, flag: 0, sysFlag: 0, bornTimestamp: 1 },
    ...{ bornAddress: Buffer.alloc(4, 1), bornPort: 1, reconsumeTimes: 0, preparedTransactionOffset: 0 },
    ...{ body: Buffer.from('body'), waitStore: false },
    properties: propertyText({
      ...HALF_PROPERTIES,
      REAL_TOPIC: 'T',
      REAL_QID: '0',
      TRAN_PREPARED_QUEUE_OFFSET: String(origin),
      ...properties,
    }),
  });
  return { queueOffset, physicalOffset };
}

describe('a transaction ends once', () => {
  let broker: TestBroker;
  let client: RawClient;

  beforeEach(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  afterEach(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  const finals = async (): Promise<number> => (await stored(broker, 'T')).length;

  it('however often its producer says so; the first word counts', async () => {
    const halves = [halfOf(await sendHalf(client)), halfOf(await sendHalf(client))];
    for (const [half, type] of [
      [halves[0], COMMIT],
      [halves[0], COMMIT],
      [halves[0], ROLLBACK],
      [halves[1], ROLLBACK],
      [halves[1], COMMIT],
    ] as const)
      assert.equal((await end(client, half, type)).code, 0);
    assert.equal(await finals(), 1);
    assert.deepEqual(await ended(broker), [0, 1]);
    assert.equal(broker.lines.filter(({ message }) => /ended in two ways/.test(message)).length, 2);
    assert.deepEqual(
      [0, 1, 2].map((origin) => broker.get(Decided).of(origin)),
      ['committed', 'rolledBack', undefined],
    );
  });

  it('when it is said twice before anything is stored', async () => {
    const half = halfOf(await sendHalf(client));
    const answers = await Promise.all([
      end(client, half, COMMIT),
      end(client, half, COMMIT),
      end(client, half, COMMIT),
    ]);
    assert.deepEqual(
      answers.map(({ code }) => code),
      [0, 0, 0],
    );
    assert.equal(await finals(), 1);
    assert.deepEqual(await ended(broker), [0]);
  });

  it('also through copies: late, as it was sent, then as the answer to a check (B22)', async () => {
    const half = halfOf(await sendHalf(client));
    const copies = [await copyOf(broker, 0), await copyOf(broker, 0, { TRANSACTION_CHECK_TIMES: '2' })];
    assert.equal((await end(client, half, COMMIT)).code, 0);
    for (const copy of copies) assert.equal((await end(client, copy, COMMIT, { fromTransactionCheck: true })).code, 0);
    assert.equal(await finals(), 1);
    assert.deepEqual(await ended(broker), [0]);
  });

  it('also the other way round; the op names the copy that was ended', async () => {
    await sendHalf(client);
    const half = halfOf(await sendHalf(client));
    const copy = await copyOf(broker, 1);
    assert.equal((await end(client, copy, COMMIT, { fromTransactionCheck: true })).code, 0);
    assert.equal((await end(client, half, COMMIT)).code, 0);
    assert.equal(await finals(), 1);
    assert.deepEqual(await ended(broker), [2]);
    assert.equal(broker.get(Decided).of(1), 'committed');
    assert.equal(broker.get(Decided).of(2), undefined);
  });

  it('an origin that is none is a property of the producer: the half is its own', async () => {
    await sendHalf(client);
    for (const origin of ['x', '-1', '99', '1e3', '']) {
      const half = await copyOf(broker, 0, { TRAN_PREPARED_QUEUE_OFFSET: origin });
      assert.equal((await end(client, half, COMMIT)).code, 0);
      assert.equal(broker.get(Decided).of(half.queueOffset), 'committed', origin);
    }
    assert.equal(await finals(), 5);
  });
});
