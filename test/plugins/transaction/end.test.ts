import assert from 'node:assert/strict';
import { RequestCode } from '../../../protocol/codes.js';
import { encodeRequest, Serialize } from '../../../protocol/command.js';
import type { EndTransactionRequestHeader } from '../../../protocol/headers/end-transaction.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import type { RawClient } from '../../support/raw-client.js';
import { pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import {
  COMMIT,
  end,
  endExt,
  ended,
  halfOf,
  ROLLBACK,
  sendHalf,
  stored,
  UNKNOWN,
  type Half,
} from '../../support/transactions.js';
import { until } from '../../support/until.js';

const HALF = 'RMQ_SYS_TRANS_HALF_TOPIC';
const OP = 'RMQ_SYS_TRANS_OP_HALF_TOPIC';

describe('end of a transaction', () => {
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

  const half = async (wish: Parameters<typeof sendHalf>[1] = {}): Promise<Half> => halfOf(await sendHalf(client, wish));

  it('by commit shows the message where it was sent to, then notes the end', async () => {
    await half();
    const second = await half({ queueId: 1, body: Buffer.from('committed'), properties: { TAGS: 'a' } });
    const { code, remark, ext } = await end(client, second, COMMIT);
    assert.deepEqual([code, remark, { ...ext }], [0, null, {}]);
    const [message] = await pullAll(client, 1, { queueId: 1, subscription: 'a' });
    assert.equal(message.body.toString(), 'committed');
    assert.deepEqual([message.sysFlag, message.preparedTransactionOffset], [8, second.physicalOffset]);
    const [, theirs] = await stored(broker, HALF);
    assert.equal(message.properties, theirs.properties);
    const [op] = await stored(broker, OP);
    assert.equal(op.body.toString(), '1');
    assert.ok(op.physicalOffset > message.physicalOffset);
    assert.deepEqual([op.queueId, op.queueOffset, op.properties], [0, 0, 'WAIT\u0001true\u0002TAGS\u0001d']);
    assert.equal(op.bornHost, op.storeHost);
  });

  it('by rollback shows nothing, and notes the end; answered in the words of 4.9.7', async () => {
    const one = await half();
    const { code, remark } = await end(client, one, ROLLBACK, { fromTransactionCheck: true });
    assert.deepEqual([code, remark], [0, 'not set any response code']);
    assert.deepEqual(await ended(broker), [0]);
    assert.deepEqual(await stored(broker, 'T'), []);
  });

  it('that is not known yet changes nothing; it is answered, so that nobody waits in vain', async () => {
    const one = await half();
    for (const fromTransactionCheck of [true, false])
      assert.equal((await end(client, one, UNKNOWN, { fromTransactionCheck })).code, 0);
    assert.equal((await stored(broker, OP)).length + (await stored(broker, 'T')).length, 0);
    assert.equal((await end(client, one, COMMIT)).code, 0);
    assert.equal((await stored(broker, 'T')).length, 1);
  });

  it('is taken one-way and in both header forms; many at once', async () => {
    const halves: Half[] = [];
    for (let i = 0; i < 40; i++) halves.push(await half({ body: Buffer.from(`m${i}`) }));
    const frames = halves.map((one, i) => {
      const serialize = i % 2 === 0 ? Serialize.JSON : Serialize.ROCKETMQ;
      const ext = endExt(one, i % 4 === 3 ? ROLLBACK : COMMIT, {}, serialize);
      return encodeRequest({ code: RequestCode.END_TRANSACTION, opaque: 1000 + i, oneway: true, ext, serialize });
    });
    client.write(Buffer.concat(frames));
    await until(async () => (await ended(broker)).length === 40, 'all have ended');
    assert.deepEqual(
      (await pullAll(client, 30)).map(({ body }) => body.toString()),
      halves.map((_, i) => `m${i}`).filter((_, i) => i % 4 !== 3),
    );
    assert.equal(client.strays.length, 0);
  });

  it('of 4 MiB shows all of it', async () => {
    const body = Buffer.alloc(4 * 1024 * 1024, 'xyz');
    assert.equal((await end(client, await half({ body }), COMMIT)).code, 0);
    assert.ok((await pullAll(client, 1))[0].body.equals(body));
  });

  it('of a delayed one lets it wait for its time', async () => {
    const one = await half({ properties: { DELAY: '18' } });
    assert.equal((await end(client, one, COMMIT)).code, 0);
    const [delayed] = await stored(broker, 'SCHEDULE_TOPIC_XXXX');
    const { REAL_TOPIC, REAL_QID, DELAY, TRAN_MSG } = Object.fromEntries(parseProperties(delayed.properties));
    assert.deepEqual(
      { REAL_TOPIC, REAL_QID, DELAY, TRAN_MSG },
      { REAL_TOPIC: 'T', REAL_QID: '0', DELAY: '18', TRAN_MSG: undefined },
    );
    assert.deepEqual(await ended(broker), [0]);
  });

  interface Wrong {
    readonly name: string;
    readonly change: (one: Half, plain: Half) => Partial<EndTransactionRequestHeader>;
    readonly remark: string | RegExp;
  }
  const NOT_FOUND = 'Find prepared transaction message failed';
  const wrongs: readonly Wrong[] = [
    { name: 'another group', change: () => ({ producerGroup: 'Other' }), remark: 'The producer group wrong' },
    {
      name: 'another place in the queue',
      change: () => ({ tranStateTableOffset: 77 }),
      remark: 'The transaction state table offset wrong',
    },
    {
      name: 'another half’s place',
      change: (one) => ({ commitLogOffset: one.physicalOffset, tranStateTableOffset: 0 }),
      remark: 'The transaction state table offset wrong',
    },
    { name: 'a place beyond the log', change: () => ({ commitLogOffset: 1_000_000_000 }), remark: NOT_FOUND },
    { name: 'a place before the log', change: () => ({ commitLogOffset: -5 }), remark: NOT_FOUND },
    { name: 'a place at the edge of numbers', change: () => ({ commitLogOffset: 2 ** 63 - 1024 }), remark: NOT_FOUND },
    {
      name: 'a place between records',
      change: (one) => ({ commitLogOffset: one.physicalOffset + 10 }),
      remark: NOT_FOUND,
    },
    {
      name: 'the place of a message that is no half',
      change: (_, plain) => ({ commitLogOffset: plain.physicalOffset, tranStateTableOffset: plain.queueOffset }),
      remark: NOT_FOUND,
    },
    { name: 'type prepared', change: () => ({ commitOrRollback: 4 }), remark: /commitOrRollback is 4/ },
    { name: 'type 5', change: () => ({ commitOrRollback: 5 }), remark: /commitOrRollback is 5/ },
  ];
  for (const { name, change, remark } of wrongs)
    it(`for ${name} is refused with 1, and ends nothing`, async () => {
      // Says that it is of this group, as every message of a Java client might.
      const plain = halfOf(await send(client, { properties: 'PGROUP\u0001PG' }));
      await half();
      const one = await half();
      for (const type of [COMMIT, ROLLBACK]) {
        const answer = await end(client, one, type, change(one, plain));
        assert.equal(answer.code, 1);
        assert.match(String(answer.remark), typeof remark === 'string' ? new RegExp(`^${remark}$`) : remark);
      }
      assert.deepEqual(await ended(broker), []);
      assert.equal((await stored(broker, 'T')).length, 1);
    });

  it('with a field that is missing or unreadable is refused with 1, naming it', async () => {
    const one = await half();
    for (const field of ['producerGroup', 'tranStateTableOffset', 'commitLogOffset', 'commitOrRollback', 'msgId'])
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ]) {
        const { [field]: _, ...ext } = endExt(one, COMMIT, {}, serialize);
        const { code, remark } = await client.ask(RequestCode.END_TRANSACTION, { ext, serialize });
        assert.equal(code, 1);
        assert.match(String(remark), new RegExp(`${field} is missing`));
      }
    for (const field of ['tranStateTableOffset', 'commitLogOffset', 'commitOrRollback']) {
      const ext = { ...endExt(one, COMMIT), [field]: '1x' };
      assert.match(
        String((await client.ask(RequestCode.END_TRANSACTION, { ext })).remark),
        new RegExp(`${field} is not a`),
      );
    }
    assert.deepEqual(await ended(broker), []);
  });
});

describe('end of a transaction, later', () => {
  it('is taken from halves far behind the end of the log, many at once, also after a restart', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, hotBytes: 4096, mappedFileSizeCommitLog: 1 << 20 };
    const halves: Half[] = [];
    const endAll = (client: RawClient, some: readonly Half[]): Promise<number[]> =>
      Promise.all(some.map(async (half) => (await end(client, half, COMMIT)).code));
    {
      await using broker = await testBroker({ options });
      using client = await broker.connect();
      for (let i = 0; i < 40; i++) halves.push(halfOf(await sendHalf(client, { body: Buffer.from(`m${i}`) })));
      await send(client, { topic: 'Other', body: Buffer.alloc(64 * 1024) });
      assert.deepEqual(new Set(await endAll(client, halves.slice(0, 20))), new Set([0]));
    }
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    assert.equal((await end(client, halves[20], COMMIT, { producerGroup: 'Other' })).code, 1);
    assert.deepEqual(new Set(await endAll(client, halves.slice(20, 39))), new Set([0]));
    assert.equal((await end(client, halves[39], ROLLBACK)).code, 0);
    const messages = await pullAll(client, 39);
    const places = new Map(halves.map(({ physicalOffset }, i) => [physicalOffset, `m${i}`]));
    for (const { body, preparedTransactionOffset } of messages)
      assert.equal(body.toString(), places.get(preparedTransactionOffset));
    assert.equal(new Set(messages.map(({ body }) => body.toString())).size, 39);
    assert.equal(new Set(await ended(broker)).size, 40);
  });

  it('that was taken before the broker stops is answered, also when the sync takes too long', async () => {
    const options = { flushDiskType: 'SYNC_FLUSH', syncFlushTimeout: 300 } as const;
    const broker = await testBroker({ options, without: ['flush'] });
    using client = await broker.connect();
    const one = halfOf(await sendHalf(client));
    const ending = end(client, one, COMMIT);
    await until(async () => (await ended(broker)).length === 1, 'the end is noted');
    await broker.stop();
    assert.equal((await ending).code, 0);
  });
});
