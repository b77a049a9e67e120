import assert from 'node:assert/strict';
import { Topics } from '../../../plugins/topics/contract.js';
import { Halves } from '../../../plugins/transaction/contract.js';
import { SysFlag } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { Queues } from '../../../plugins/reput/contract.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { HALF_PROPERTIES, sendHalf, stored } from '../../support/transactions.js';

const HALF = 'RMQ_SYS_TRANS_HALF_TOPIC';

describe('half of a transaction', () => {
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

  it('lies in a topic of the system, seen by nobody, as 4.9.7 stores it', async () => {
    const properties = { KEYS: 'k', TAGS: 'a', WAIT: 'true', CHECK_IMMUNITY_TIME_IN_SECONDS: '60' };
    const { code, header } = await sendHalf(client, { queueId: 2, flag: 3, sysFlag: 7, properties });
    assert.deepEqual([code, header.queueId, header.queueOffset], [0, 2, 0]);
    const [half] = await stored(broker, HALF);
    assert.deepEqual(Object.fromEntries(parseProperties(half.properties)), {
      ...HALF_PROPERTIES,
      ...properties,
      REAL_TOPIC: 'T',
      REAL_QID: '2',
      CLUSTER: 'DefaultCluster',
    });
    assert.deepEqual(
      [half.queueId, half.queueOffset, half.sysFlag, half.flag, half.preparedTransactionOffset],
      [0, 0, 3, 3, 0],
    );
    assert.equal(header.msgId, half.msgId);
    assert.equal((await sendHalf(client)).header.queueOffset, 1);
    assert.equal((await pull(client, { queueId: 2 })).header.maxOffset, 0);
    assert.deepEqual(broker.get(Queues).topics(), [HALF]);
  });

  it('gets its topic an entry among the topics, as the first check of 4.9.7 does; the ops have none', async () => {
    await send(client);
    assert.equal(broker.get(Topics).get(HALF), undefined);
    await sendHalf(client);
    const { readQueueNums, writeQueueNums, perm, topicSysFlag } = broker.get(Topics).get(HALF)!;
    assert.deepEqual([readQueueNums, writeQueueNums, perm, topicSysFlag], [1, 1, 6, 0]);
    assert.equal(broker.get(Topics).get('RMQ_SYS_TRANS_OP_HALF_TOPIC'), undefined);
  });

  it('is what says TRAN_MSG, whatever the system flag says, in both header forms', async () => {
    for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
      for (const sysFlag of [0, 4, 8, 12])
        for (const word of ['true', 'TRUE'])
          assert.equal((await sendHalf(client, { sysFlag, serialize, properties: { TRAN_MSG: word } })).code, 0);
    const halves = await stored(broker, HALF);
    assert.equal(halves.length, 16);
    for (const { sysFlag } of halves) assert.equal(sysFlag, 0);
    assert.deepEqual(await stored(broker, 'T'), []);
  });

  it('keeps its delay, which counts when it is committed', async () => {
    assert.equal((await sendHalf(client, { properties: { DELAY: '3' } })).code, 0);
    assert.equal(parseProperties((await stored(broker, HALF))[0].properties).get('DELAY'), '3');
    assert.deepEqual(await stored(broker, 'SCHEDULE_TOPIC_XXXX'), []);
    assert.equal((await sendHalf(client, { properties: { DELAY: 'x' } })).code, 13);
  });

  it("loses the broker's notes of another transaction, which whoever sends on a message brings with it", async () => {
    const notes = {
      REAL_TOPIC: 'Other',
      REAL_QID: '9',
      TRAN_PREPARED_QUEUE_OFFSET: '5',
      TRANSACTION_CHECK_TIMES: '14',
    };
    await sendHalf(client, { queueId: 1, properties: { ...notes, CLUSTER: 'Other', own: 'x' } });
    assert.equal(
      (await stored(broker, HALF))[0].properties,
      propertyText({ ...HALF_PROPERTIES, own: 'x', REAL_TOPIC: 'T', REAL_QID: '1', CLUSTER: 'DefaultCluster' }),
    );
  });

  it('to a retry topic, and a dead letter, remembers that', async () => {
    await sendHalf(client, { topic: '%RETRY%G' });
    await sendHalf(client, { topic: '%RETRY%G', reconsumeTimes: 16 });
    assert.deepEqual(
      (await stored(broker, HALF)).map(({ properties }) => parseProperties(properties).get('REAL_TOPIC')),
      ['%RETRY%G', '%DLQ%G'],
    );
  });

  it('of 4 MiB is taken', async () => {
    const body = Buffer.alloc(4 * 1024 * 1024, 'x');
    assert.equal((await sendHalf(client, { body })).code, 0);
    assert.ok((await stored(broker, HALF))[0].body.equals(body));
  });

  it('is not taken while too many are open, with 2 and the reason; other messages are', async () => {
    broker.get(Halves).holdBack('5 transactions are open (transactionOpenMax)');
    const { code, remark } = await sendHalf(client);
    assert.deepEqual([code, remark], [2, '5 transactions are open (transactionOpenMax)']);
    assert.equal((await send(client)).code, 0);
    broker.get(Halves).holdBack(undefined);
    assert.equal((await sendHalf(client)).code, 0);
  });
});

describe('half of a transaction, elsewhere', () => {
  it('is refused with 16 when rejectTransactionMessage says so', async () => {
    await using broker = await testBroker({ options: { rejectTransactionMessage: true } });
    using client = await broker.connect();
    const { code, remark, ext } = await sendHalf(client);
    assert.deepEqual([code, remark], [16, 'the broker[127.0.0.1] sending transaction message is forbidden']);
    assert.equal(ext.MSG_REGION, 'DefaultRegion');
    assert.equal((await send(client)).code, 0);
  });

  it('that only the system flag marks is stored as in 4.9: in no queue when prepared or rolled back', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    const properties = propertyText({ DELAY: '1' });
    for (const [sysFlag, queueOffset] of [
      [SysFlag.TRANSACTION_COMMIT, 0],
      [SysFlag.TRANSACTION_PREPARED, 0],
      [SysFlag.TRANSACTION_ROLLBACK, 0],
      [SysFlag.TRANSACTION_COMMIT, 1],
    ])
      assert.equal((await send(client, { sysFlag })).header.queueOffset, queueOffset);
    assert.equal((await send(client, { sysFlag: SysFlag.TRANSACTION_PREPARED, properties })).code, 0);
    assert.equal((await send(client, { sysFlag: SysFlag.TRANSACTION_COMMIT, properties })).code, 0);
    assert.deepEqual(
      (await stored(broker, 'T')).map(({ sysFlag }) => sysFlag),
      [8, 4, 12, 8, 4],
    );
    assert.equal((await stored(broker, 'SCHEDULE_TOPIC_XXXX')).length, 1);
    assert.equal((await pull(client)).messages.length, 2);
  });
});
