import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCheckTransactionState } from '../../../protocol/headers/check-transaction-state.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import type { Answer, RawClient } from '../../support/raw-client.js';
import { pullAll } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import {
  COMMIT,
  end,
  endExt,
  ended,
  halfOf,
  sendHalf,
  stored,
  UNKNOWN,
  type Half,
} from '../../support/transactions.js';
import { until } from '../../support/until.js';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { paired } from '../../../config/topologies/paired.js';
import { allOnMain } from '../../../config/topology.js';

const HALF = 'RMQ_SYS_TRANS_HALF_TOPIC';
const OP = 'RMQ_SYS_TRANS_OP_HALF_TOPIC';
const MAX_TIME = 'TRANS_CHECK_MAX_TIME_TOPIC';
const SYSTEM_GROUP = 'CID_RMQ_SYS_TRANS';

const SOON = { transactionTimeOut: 1, transactionCheckInterval: 20 };
const born = (): { readonly bornTimestamp: number } => ({ bornTimestamp: systemClock.wallMs() });

function checkBroker({ options, ...more }: TestBrokerOptions = {}): Promise<TestBroker> {
  return testBroker({ options: { ...SOON, ...options }, ...more });
}

/** A producer of the group, which answers nothing unless told. */
async function producer(broker: TestBroker, groupName = 'PG'): Promise<RawClient> {
  const client = await broker.connect();
  const clientID = `client@${client.localPort}`;
  const body = encodeHeartbeat({ clientID, consumerDataSet: [], producerDataSet: [{ groupName }] });
  assert.equal((await client.ask(RequestCode.HEART_BEAT, { body })).code, 0);
  return client;
}

function questionsTo(client: RawClient): Answer[] {
  return client.requests.filter(({ code }) => code === RequestCode.CHECK_TRANSACTION_STATE);
}

/** Of the half that a question is about. */
function askedHalf(question: Answer): Half {
  const { tranStateTableOffset, commitLogOffset } = decodeCheckTransactionState(question.ext);
  return { queueOffset: tranStateTableOffset, physicalOffset: commitLogOffset };
}

/** Answers every question so. */
function answering(client: RawClient, decision: () => number): void {
  client.respond = (question) => {
    if (question.code === RequestCode.CHECK_TRANSACTION_STATE)
      client.tell(RequestCode.END_TRANSACTION, {
        ext: endExt(askedHalf(question), decision(), { fromTransactionCheck: true }),
      });
    return undefined;
  };
}

describe('questions to producers', () => {
  it('come with the message as it was sent, one-way, and name the copy that is in its place', async () => {
    await using broker = await checkBroker();
    using client = await producer(broker);
    const properties = { TAGS: 'a', UNIQ_KEY: 'U7' };
    const body = Buffer.from('a body');
    const sent = await sendHalf(client, { topic: 'T', queueId: 2, properties, body, flag: 7, ...born() });
    assert.equal(sent.code, 0);
    await until(() => questionsTo(client).length > 0, 'a question comes');
    const [question] = questionsTo(client);
    const header = decodeCheckTransactionState(question.ext);
    const copies = await stored(broker, HALF);
    const copy = copies[header.tranStateTableOffset];
    assert.equal(question.oneway, true);
    assert.deepEqual(
      { ...header },
      {
        tranStateTableOffset: 1,
        commitLogOffset: copy.physicalOffset,
        msgId: 'U7',
        transactionId: 'U7',
        offsetMsgId: copy.msgId,
      },
    );
    const asked = decodeRecord(question.body, 0);
    assert.deepEqual(
      [asked.topic, asked.queueId, asked.body.toString(), asked.flag, asked.queueOffset, asked.physicalOffset],
      ['T', 2, 'a body', 7, 1, copy.physicalOffset],
    );
    const { REAL_TOPIC, TRANSACTION_CHECK_TIMES, TRAN_PREPARED_QUEUE_OFFSET } = Object.fromEntries(
      parseProperties(asked.properties),
    );
    assert.deepEqual(
      { REAL_TOPIC, TRANSACTION_CHECK_TIMES, TRAN_PREPARED_QUEUE_OFFSET },
      { REAL_TOPIC: 'T', TRANSACTION_CHECK_TIMES: '1', TRAN_PREPARED_QUEUE_OFFSET: '0' },
    );
  });

  it('that are answered end the transaction', async () => {
    await using broker = await checkBroker();
    using client = await producer(broker);
    answering(client, () => COMMIT);
    await sendHalf(client, born());
    const [message] = await pullAll(client, 1);
    assert.equal(message.body.toString(), 'body');
    await until(async () => (await ended(broker)).includes(1), 'the copy is noted as ended');
  });

  it('are fifteen when nobody knows, then one copy is in the topic for those', async () => {
    await using broker = await checkBroker();
    using client = await producer(broker);
    answering(client, () => UNKNOWN);
    const sentMs = systemClock.wallMs();
    await sendHalf(client, { ...born(), properties: { CHECK_IMMUNITY_TIME_IN_SECONDS: '1' } });
    await until(() => questionsTo(client).length > 0, 'a question comes');
    assert.ok(systemClock.wallMs() - sentMs >= 990, 'asked before the time that the message names');
    await until(async () => (await stored(broker, MAX_TIME)).length > 0, 'it is given up');
    assert.equal(questionsTo(client).length, 15);
    assert.equal((await stored(broker, MAX_TIME)).length, 1);
    assert.equal(broker.get(Topics).get(MAX_TIME)?.writeQueueNums, 1);
    await pullAll(client, 1, { topic: MAX_TIME });
  });

  it('end with a late commit by the coordinates of the send: one message, and no more questions', async () => {
    await using broker = await checkBroker();
    using client = await producer(broker);
    answering(client, () => UNKNOWN);
    const half = halfOf(await sendHalf(client, born()));
    await until(() => questionsTo(client).length >= 3, 'questions come');
    answering(client, () => COMMIT);
    assert.equal((await end(client, half, COMMIT)).code, 0);
    const asked = questionsTo(client).length;
    await until(async () => {
      const [halves, ops] = [await stored(broker, HALF), new Set(await ended(broker))];
      return halves.every(({ queueOffset }) => ops.has(queueOffset));
    }, 'all copies are closed');
    assert.ok(questionsTo(client).length <= asked + 1, 'asked after the commit');
    await pullAll(client, 1);
  });

  it('go to another producer of the group when the one that sent is gone, and wait while there is none', async () => {
    await using broker = await checkBroker();
    const first = await producer(broker);
    using other = await producer(broker, 'Other');
    await sendHalf(first, { ...born(), properties: { CHECK_IMMUNITY_TIME_IN_SECONDS: '1' } });
    first.reset();
    await first.closed;
    await until(() => broker.lines.some(({ message }) => message === 'producer gone: its connection closed'), 'gone');
    using second = await broker.connect();
    // A whole second without a member: nothing is counted.
    const sentMs = systemClock.wallMs();
    await until(() => systemClock.wallMs() - sentMs > 1100, 'the half is due');
    assert.equal((await stored(broker, HALF)).length, 1);
    const body = encodeHeartbeat({ clientID: 'second', consumerDataSet: [], producerDataSet: [{ groupName: 'PG' }] });
    await second.ask(RequestCode.HEART_BEAT, { body });
    answering(second, () => COMMIT);
    await pullAll(second, 1);
    assert.equal(questionsTo(second).length, 1);
    assert.equal(questionsTo(other).length, 0);
  });
});

describe('progress of the transaction check', () => {
  it('is kept as 4.9 keeps it, and a restart goes on from there', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, transactionTimeOut: 3_600_000 };
    let asked: Half;
    {
      await using broker = await checkBroker({ options });
      using client = await producer(broker);
      for (let i = 0; i < 20; i++) await end(client, halfOf(await sendHalf(client, born())), COMMIT);
      await sendHalf(client, { ...born(), properties: { CHECK_IMMUNITY_TIME_IN_SECONDS: '0' } });
      await until(() => questionsTo(client).length >= 2, 'questions come');
      asked = askedHalf(questionsTo(client).at(-1)!);
    }
    await using broker = await checkBroker({ options });
    const offsets = broker.get(Offsets);
    assert.ok(offsets.query(SYSTEM_GROUP, HALF, 0) > 20);
    assert.ok(offsets.query(SYSTEM_GROUP, OP, 0) >= 20);
    using client = await producer(broker);
    answering(client, () => COMMIT);
    await until(() => questionsTo(client).length > 0, 'it is asked about again');
    const question = askedHalf(questionsTo(client)[0]);
    assert.ok(question.queueOffset > asked.queueOffset);
    await until(async () => (await stored(broker, 'T')).length === 21, 'all are committed');
  });
});

describe('the transaction check in every topology', () => {
  for (const [name, topology] of Object.entries({ dedicated, paired, fused: allOnMain }))
    it(`asks and hears: ${name}`, async () => {
      using dir = tempDir();
      await using broker = await checkBroker({ options: { storePathRootDir: dir.path }, topology });
      using client = await producer(broker);
      answering(client, () => COMMIT);
      for (let i = 0; i < 10; i++) await sendHalf(client, born());
      await pullAll(client, 10);
    });
});
