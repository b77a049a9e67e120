import assert from 'node:assert/strict';
import {
  TransactionProducer,
  type ReceivedMessage,
  type TransactionProducerOptions,
  type TransactionState,
} from '../../client/index.js';
import { decodeHeartbeat } from '../../protocol/bodies/heartbeat.js';
import { RequestCode, ResponseCode, SysFlag } from '../../protocol/codes.js';
import { encodeCheckTransactionState } from '../../protocol/headers/check-transaction-state.js';
import { decodeEndTransaction } from '../../protocol/headers/end-transaction.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { createOffsetMessageId } from '../../protocol/message/message-id.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { recordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

const { SEND_MESSAGE_V2: SEND, END_TRANSACTION: END, CHECK_TRANSACTION_STATE: CHECK } = RequestCode;
const PHYSICAL_OFFSET = 123_456_789_012;

describe('TransactionProducer', () => {
  let broker: FakeBroker;
  let producer: TransactionProducer;
  const logger = recordingLogger();
  const warnings = (): string[] => logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);

  async function begin(options: Partial<TransactionProducerOptions> = {}): Promise<TransactionProducer> {
    producer = new TransactionProducer({
      namesrvAddr: broker.address,
      group: 'PG',
      periods: quick,
      logger,
      checkLocalTransaction: () => Promise.resolve('unknown'),
      ...options,
    });
    await producer.start();
    return producer;
  }

  const send = (state: () => TransactionState): ReturnType<TransactionProducer['sendInTransaction']> =>
    producer.sendInTransaction({ topic: 'T', body: 'x' }, async () => state());

  async function ends(count: number): Promise<ReturnType<typeof decodeEndTransaction>[]> {
    await until(() => broker.asked(END).length >= count, `${count} ends of transactions`);
    return broker.asked(END).map(({ ext }) => decodeEndTransaction(ext));
  }

  /** Asks as a broker does: with the half message as it would be delivered. */
  function ask(group: string | undefined, body = Buffer.from('x'), sysFlag = 0): void {
    const properties = `UNIQ_KEY\u0001KEY${group === undefined ? '' : `\u0002PGROUP\u0001${group}`}`;
    broker.queues.clear();
    broker.fill('T', 2, [body], properties, sysFlag);
    const header = {
      tranStateTableOffset: 7,
      commitLogOffset: 4711,
      msgId: 'KEY',
      transactionId: 'TX',
      bname: 'broker-a',
    };
    broker.server.push(CHECK, encodeCheckTransactionState(header), true, broker.queue('T', 2).records[0]);
  }

  beforeEach(async () => {
    logger.lines.length = 0;
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
    broker.topics.set('TBW102', { queues: 1, perm: 7 });
    const msgId = createOffsetMessageId(Buffer.from([127, 0, 0, 1]), 10911, PHYSICAL_OFFSET);
    broker.on(SEND, { code: ResponseCode.SUCCESS, ext: { msgId, queueId: '0', queueOffset: '42' } });
    broker.on(END, 'silent');
  });

  afterEach(async () => {
    await producer.stop();
    await broker.close();
  });

  for (const [state, flag] of [
    ['commit', SysFlag.TRANSACTION_COMMIT],
    ['rollback', SysFlag.TRANSACTION_ROLLBACK],
    ['unknown', SysFlag.TRANSACTION_NOT],
  ] as const)
    it(`stores a half message, runs the local transaction, and tells ${state}`, async () => {
      await begin();
      const seen: string[] = [];
      const message = { topic: 'T', body: 'x', tag: 'red' };
      const result = await producer.sendInTransaction(message, async (given, half) => {
        assert.equal(given, message);
        seen.push(half.msgId);
        return Promise.resolve(state);
      });
      const header = decodeSendMessageV2(broker.asked(SEND)[0]!.ext);
      const properties = parseProperties(header.properties!);
      assert.equal(header.sysFlag, SysFlag.TRANSACTION_PREPARED);
      assert.deepEqual(
        [properties.get('TRAN_MSG'), properties.get('PGROUP'), properties.get('TAGS')],
        ['true', 'PG', 'red'],
      );
      assert.deepEqual(seen, [result.msgId]);
      assert.equal(result.state, state);
      const [end] = await ends(1);
      assert.equal(broker.asked(END)[0]!.oneway, true);
      assert.deepEqual(end, {
        producerGroup: 'PG',
        tranStateTableOffset: 42,
        commitLogOffset: PHYSICAL_OFFSET,
        commitOrRollback: flag,
        fromTransactionCheck: false,
        msgId: result.msgId,
        transactionId: result.msgId,
        bname: 'broker-a',
      });
    });

  it('tells unknown, and why, when the local transaction throws or returns no state', async () => {
    await begin();
    const failed = await send(() => {
      throw new Error('no database');
    });
    assert.equal(failed.state, 'unknown');
    assert.match(String(failed.error), /no database/);
    const odd = await send(() => 'toString' as TransactionState);
    assert.equal(odd.state, 'unknown');
    assert.match(String(odd.error), /state is "toString"/);
    const told = await ends(2);
    assert.deepEqual(
      told.map(({ commitOrRollback }) => commitOrRollback),
      [SysFlag.TRANSACTION_NOT, SysFlag.TRANSACTION_NOT],
    );
    assert.match(broker.asked(END)[0]!.remark!, /no database/);
  });

  it('runs nothing and rolls back when the half message may not be safe', async () => {
    const ext = { msgId: createOffsetMessageId(Buffer.from([127, 0, 0, 1]), 1, 9), queueId: '0', queueOffset: '1' };
    broker.on(SEND, { code: ResponseCode.FLUSH_DISK_TIMEOUT, ext });
    await begin();
    const result = await send(() => assert.fail('ran'));
    assert.deepEqual([result.status, result.state], ['FLUSH_DISK_TIMEOUT', 'rollback']);
    assert.equal((await ends(1))[0]!.commitOrRollback, SysFlag.TRANSACTION_ROLLBACK);
  });

  it('rejects, and runs nothing, when the half message was not stored', async () => {
    broker.on(SEND, { code: ResponseCode.NO_PERMISSION, remark: 'no transactions here' });
    await begin({ retries: 0 });
    await assert.rejects(
      send(() => assert.fail('ran')),
      /no transactions here/,
    );
    await assert.rejects(
      producer.sendInTransaction({ topic: 'T', body: 'x', delayLevel: 1 }, () => assert.fail('ran')),
      /cannot be delayed/,
    );
    assert.equal(broker.asked(END).length, 0);
  });

  it('says when the broker cannot be told, and keeps the outcome', async () => {
    broker.on(SEND, { code: ResponseCode.SUCCESS, ext: { msgId: 'no id', queueId: '0', queueOffset: '1' } });
    await begin();
    assert.equal((await send(() => 'commit')).state, 'commit');
    assert.ok(warnings().some((text) => /could not be told/.test(text)));
  });

  it('can be asked before it has sent anything, and answers with what the check says', async () => {
    const asked: ReceivedMessage[] = [];
    await begin({
      checkLocalTransaction: (message) => {
        asked.push(message);
        return Promise.resolve('commit');
      },
    });
    const beat = decodeHeartbeat(broker.asked(RequestCode.HEART_BEAT)[0]!.body);
    assert.deepEqual(beat.producerDataSet, [{ groupName: 'PG' }]);
    ask('PG');
    const [end] = await ends(1);
    assert.equal(broker.asked(END)[0]!.oneway, true);
    assert.deepEqual(end, {
      producerGroup: 'PG',
      tranStateTableOffset: 7,
      commitLogOffset: 4711,
      commitOrRollback: SysFlag.TRANSACTION_COMMIT,
      fromTransactionCheck: true,
      msgId: 'KEY',
      transactionId: 'TX',
      bname: 'broker-a',
    });
    const [message] = asked;
    assert.deepEqual([message!.msgId, message!.topic, message!.body.toString()], ['KEY', 'T', 'x']);
  });

  it('is known to the brokers of its topics where none creates topics', async () => {
    broker.topics.delete('TBW102');
    await begin({ topics: ['T'] });
    assert.ok(broker.asked(RequestCode.HEART_BEAT).length > 0);
  });

  it('answers unknown, and why, when the check throws or the body is unreadable', async () => {
    await begin({
      checkLocalTransaction: () => Promise.reject(new Error('no database')),
    });
    ask('PG');
    ask('PG', Buffer.from('no zlib'), SysFlag.COMPRESSED);
    const told = await ends(2);
    assert.deepEqual(
      told.map(({ commitOrRollback }) => commitOrRollback),
      [SysFlag.TRANSACTION_NOT, SysFlag.TRANSACTION_NOT],
    );
    const remarks = broker.asked(END).map(({ remark }) => remark!);
    assert.match(remarks.join(), /no database.*unreadable body|unreadable body.*no database/);
  });

  it('leaves checks of other groups and unreadable ones alone, and says so', async () => {
    await begin({ checkLocalTransaction: () => assert.fail('asked') });
    ask('OTHER');
    ask(undefined);
    broker.server.push(CHECK, {}, true, Buffer.from('no record'));
    await until(() => warnings().length === 3, 'three warnings');
    assert.match(warnings().join(), /another group.*another group.*unreadable check/);
    assert.equal(broker.asked(END).length, 0);
  });

  it('runs no more checks at a time than told', async () => {
    let running = 0;
    let most = 0;
    const release: (() => void)[] = [];
    await begin({
      checkConcurrency: 2,
      checkLocalTransaction: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => release.push(resolve));
        running--;
        return 'commit';
      },
    });
    for (let count = 0; count < 5; count++) ask('PG');
    for (let ended = 0; ended < 5; ended++) {
      await until(() => release.length > 0, 'a check runs');
      release.shift()!();
    }
    assert.equal((await ends(5)).length, 5);
    assert.equal(most, 2);
  });

  it('does not start when no name server answers', async () => {
    await assert.rejects(begin({ namesrvAddr: '127.0.0.1:1' }), /no name server answers/);
  });
});
