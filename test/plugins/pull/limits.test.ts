import assert from 'node:assert/strict';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import type { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send, sendAsk, type PullWish } from '../../support/send-pull.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

async function withMessages(
  count: number,
  bodyBytes: number,
  wishes: TestBrokerOptions,
  work: (client: RawClient, broker: TestBroker) => Promise<void>,
): Promise<void> {
  await using broker = await testBroker(wishes);
  using client = await broker.connect();
  await send(client, { topic: 'Other' });
  const asked = Array.from({ length: count }, () => {
    const { code, ask } = sendAsk({ body: Buffer.alloc(bodyBytes), properties: 'TAGS\u0001x' });
    return client.prepare(code, ask);
  });
  client.write(Buffer.concat(asked.map(({ frame }) => frame)));
  for (const { answer } of asked) assert.equal((await answer).code, 0);
  await pullAll(client, 1, { queueOffset: count - 1 });
  await work(client, broker);
}

async function got(client: RawClient, wish: PullWish = {}): Promise<[messages: number, next: number]> {
  const { messages, header } = await pull(client, wish);
  return [messages.length, header.nextBeginOffset];
}

describe('limits of a pull', () => {
  it('32 messages, or what was asked for when that is less; never none', async () => {
    await withMessages(100, 10, {}, async (client) => {
      assert.deepEqual(await got(client), [32, 32]);
      assert.deepEqual(await got(client, { maxMsgNums: 1000 }), [32, 32]);
      assert.deepEqual(await got(client, { maxMsgNums: 7, queueOffset: 5 }), [7, 12]);
      for (const maxMsgNums of [1, 0, -3]) assert.deepEqual(await got(client, { maxMsgNums }), [1, 1]);
      assert.deepEqual(await got(client, { queueOffset: 90 }), [10, 100]);
      assert.deepEqual(await got(client, { subscription: 'x', maxMsgNums: 1000 }), [32, 32]);
    });
  });

  it('256 KiB, but always one message', async () => {
    // A record is its body and 91 bytes, `T`, `TAGS.x` and `.CLUSTER.DefaultCluster`.
    const record = (bodyBytes: number): number => bodyBytes + 91 + 1 + 6 + 23;
    await withMessages(10, 32_768 - record(0), {}, async (client) => {
      assert.deepEqual(await got(client), [8, 8], 'eight of 32 KiB fit to the byte');
    });
    await withMessages(10, 32_769 - record(0), {}, async (client) => {
      assert.deepEqual(await got(client), [7, 7]);
    });
    await withMessages(3, 300_000, {}, async (client) => {
      assert.deepEqual(await got(client), [1, 1]);
    });
  });

  it('8 messages or 64 KiB when the lag is more than 40 % of the memory; then a slave may be suggested', async () => {
    const options = { totalMemoryBytes: 100_000, slaveReadEnable: true };
    await withMessages(300, 200, { options }, async (client, broker) => {
      assert.deepEqual(await got(client), [8, 8]);
      assert.deepEqual(await got(client, { queueOffset: 250 }), [32, 282], 'near the end');
      const table = broker.get(SubscriptionGroups);
      await table.put({ ...table.find('G')!, brokerId: 5, whichBrokerWhenConsumeSlowly: 9 });
      assert.equal((await pull(client)).header.suggestWhichBrokerId, 9);
      assert.equal((await pull(client, { queueOffset: 250 })).header.suggestWhichBrokerId, 5);
    });
    await withMessages(100, 20_000, { options }, async (client) => {
      assert.deepEqual(await got(client), [3, 3]);
    });
  });

  it('6400 units for tags that are not there, and 800 for a filter that needs the records', async () => {
    await withMessages(6500, 1, { options: { plugins: ['sql92'] } }, async (client) => {
      const { code, header } = await pull(client, { subscription: 'other' });
      assert.deepEqual([code, header.nextBeginOffset], [20, 6400]);
      assert.deepEqual(await got(client, { subscription: 'other', queueOffset: 6400 }), [0, 6500]);
      const byRecord = { expressionType: 'SQL92', subscription: 'a = 1' };
      assert.deepEqual(await got(client, byRecord), [0, 800]);
      assert.deepEqual(await got(client, { ...byRecord, queueOffset: 5900 }), [0, 6500]);
    });
  });

  it('as many units as messages are asked for, when that is more', async () => {
    await withMessages(7100, 1, { options: { plugins: ['sql92'] } }, async (client) => {
      assert.deepEqual(await got(client, { subscription: 'other', maxMsgNums: 7000 }), [0, 7000]);
      assert.deepEqual(await got(client, { subscription: 'other', maxMsgNums: 2 ** 31 - 1 }), [0, 7100]);
      const byRecord = { expressionType: 'SQL92', subscription: 'a = 1' };
      assert.deepEqual(await got(client, { ...byRecord, maxMsgNums: 900 }), [0, 900]);
    });
  });
});

describe('a pull of records that are gone', () => {
  const SEGMENT = 4096;

  /** Each segment holds four messages; those of the given ones are removed before anybody reads them. */
  async function withoutSegments(gone: readonly number[], work: (client: RawClient) => Promise<void>): Promise<void> {
    await using broker = await testBroker({ options: { mappedFileSizeCommitLog: SEGMENT } });
    using client = await broker.connect();
    for (let i = 0; i < 12; i++) await send(client, { body: Buffer.alloc(850, i) });
    await until(() => broker.get(Queues).maxOffset('T', 0) === 12, 'all are visible');
    const { files, paths } = broker.get(StoreState);
    for (const segment of gone) files.remove(`${paths.commitLog}/${String(segment * SEGMENT).padStart(20, '0')}`);
    await work(client);
  }

  it('goes on with the next segment in the same answer, as 4.9 does', async () => {
    await withoutSegments([0], async (client) => {
      const { code, messages, header } = await pull(client);
      assert.equal(code, 0);
      assert.deepEqual(
        messages.map(({ queueOffset }) => queueOffset),
        [4, 5, 6, 7, 8, 9, 10, 11],
      );
      assert.equal(header.nextBeginOffset, 12);
    });
  });

  it('loses none of those that are there, however few are asked for', async () => {
    for (const [gone, maxMsgNums] of [
      [[0], 3],
      [[0, 1], 32],
      [[0, 1], 5],
    ] as const)
      await withoutSegments(gone, async (client) => {
        const found: number[] = [];
        for (let queueOffset = 0; queueOffset < 12;) {
          const { messages, header } = await pull(client, { queueOffset, maxMsgNums });
          found.push(...messages.map((message) => message.queueOffset));
          assert.ok(header.nextBeginOffset > queueOffset);
          queueOffset = header.nextBeginOffset;
        }
        const expected = Array.from({ length: 12 }, (_, i) => i).filter((i) => Math.floor(i / 4) >= gone.length);
        assert.deepEqual(found, expected, `without ${gone.join()}`);
      });
  });

  it('is answered 20 when all are gone, on behind them', async () => {
    await withoutSegments([0, 1, 2], async (client) => {
      const { code, remark, header } = await pull(client, { maxMsgNums: 32 });
      assert.deepEqual([code, remark, header.nextBeginOffset], [20, 'MESSAGE_WAS_REMOVING', 12]);
    });
  });
});
