import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../../config/options.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import { decodeRecords } from '../../../protocol/message/record.js';
import type { Answer, RawClient } from '../../support/raw-client.js';
import { pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { until } from '../../support/until.js';

const SIZES = { mappedFileSizeCommitLog: 1 << 20, maxHashSlotNum: 64, maxIndexNum: 20 };
const LONG_MAX = '9223372036854775807';

/** Bodies `0`, `1`, … with the keys `k0 all`, `k1 all`, … and the unique keys `u0`, `u1`, … */
async function sendKeyed(client: RawClient, count: number, from = 0, topic = 'T'): Promise<void> {
  for (let i = from; i < from + count; i++) {
    const properties = `KEYS\u0001k${i} all\u0002UNIQ_KEY\u0001u${i}\u0002`;
    assert.equal((await send(client, { topic, body: Buffer.from(String(i)), properties })).code, 0);
  }
}

function query(
  client: RawClient,
  key: string,
  ext: Record<string, string> = {},
  serialize: Serialize = Serialize.JSON,
): Promise<Answer> {
  const times = { beginTimestamp: '0', endTimestamp: LONG_MAX };
  return client.ask(RequestCode.QUERY_MESSAGE, { ext: { topic: 'T', key, maxNum: '64', ...times, ...ext }, serialize });
}

const bodiesOf = ({ body }: Answer): number[] => decodeRecords(body).map((record) => Number(record.body.toString()));

async function indexed(broker: TestBroker): Promise<void> {
  const { watermarks } = broker.get(StoreState);
  const done = (): boolean => watermarks.get(Watermark.indexed) === watermarks.get(Watermark.appended);
  await until(done, 'everything is indexed');
}

for (const where of ['memory', 'disk'] as const)
  describe(`queries by key, store in ${where}`, () => {
    const dir = tempDir();
    let broker: TestBroker;
    let client: RawClient;

    before(async () => {
      const store: Partial<Options> = where === 'disk' ? { storePathRootDir: dir.path } : {};
      broker = await testBroker({ options: { ...SIZES, ...store, defaultQueryMaxNum: 2, maxMsgsNumBatch: 5 } });
      client = await broker.connect();
      await sendKeyed(client, 20);
      await sendKeyed(client, 1, 100, 'Other');
      await indexed(broker);
    });

    after(async () => {
      client[Symbol.dispose]();
      await broker.stop();
      dir[Symbol.dispose]();
    });

    for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
      it(`12: the records with a key, and how far the index is (${serialize === Serialize.JSON ? 'JSON' : 'binary'})`, async () => {
        for (const key of ['k0', 'u0', 'k19', 'u19']) {
          const answer = await query(client, key, {}, serialize);
          assert.deepEqual([answer.code, answer.remark, bodiesOf(answer)], [0, null, [Number(key.slice(1))]]);
          const [last] = decodeRecords((await query(client, 'k100', { topic: 'Other' })).body);
          assert.deepEqual(
            { ...answer.ext },
            {
              indexLastUpdateTimestamp: String(last?.storeTimestamp),
              indexLastUpdatePhyoffset: String(last?.physicalOffset),
            },
          );
        }
      });

    it('12: the newest of many, no more than maxNum and maxMsgsNumBatch, in the order of the log', async () => {
      assert.deepEqual(bodiesOf(await query(client, 'all', { maxNum: '3' })), [17, 18, 19]);
      assert.deepEqual(bodiesOf(await query(client, 'all')), [15, 16, 17, 18, 19]);
    });

    it('12: a query by unique key goes by defaultQueryMaxNum, whatever it asks for', async () => {
      const ext = { _UNIQUE_KEY_QUERY: 'true', maxNum: '1' };
      assert.deepEqual(bodiesOf(await query(client, 'all', ext)), [18, 19]);
      assert.deepEqual(bodiesOf(await query(client, 'u7', ext)), [7]);
    });

    it('12: 22 with the words of 4.9 when there is none', async () => {
      for (const [key, ext] of [
        ['nobody', {}],
        ['k0', { topic: 'Other' }],
        ['k0', { topic: '../../x' }],
        ['', {}],
        ['all', { maxNum: '0' }],
        ['all', { maxNum: '-1' }],
        ['k0', { endTimestamp: '1' }],
        ['k0', { beginTimestamp: LONG_MAX }],
        ['k0', { beginTimestamp: '5', endTimestamp: '-9223372036854775808' }],
      ] as const) {
        const { code, remark, ext: header, body } = await query(client, key, ext);
        assert.deepEqual(
          [code, remark, body.length],
          [ResponseCode.QUERY_NOT_FOUND, 'can not find message, maybe time range not correct', 0],
          key,
        );
        assert.deepEqual({ ...header }, { indexLastUpdateTimestamp: '0', indexLastUpdatePhyoffset: '0' });
      }
    });

    it('12: 1 for a missing field, naming it', async () => {
      const { code, remark } = await client.ask(RequestCode.QUERY_MESSAGE, { ext: { topic: 'T' } });
      assert.equal(code, 1);
      assert.match(String(remark), /key/);
    });
  });

describe('the index of a broker', () => {
  const store = (path: string, changes: Partial<Options> = {}): { options: Partial<Options> } => ({
    options: { ...SIZES, storePathRootDir: path, ...changes },
  });

  async function finds(broker: TestBroker, bodies: readonly number[]): Promise<void> {
    using client = await broker.connect();
    for (const body of bodies) assert.deepEqual(bodiesOf(await query(client, `k${body}`)), [body], `k${body}`);
  }

  it('is there again after a restart, and built again when its folder is missing', async () => {
    using dir = tempDir();
    {
      await using broker = await testBroker(store(dir.path));
      using client = await broker.connect();
      await sendKeyed(client, 20);
      await pullAll(client, 20);
    }
    const index = join(dir.path, 'index');
    const files = readdirSync(index).length;
    assert.equal(files, Math.ceil((20 * 3) / 19));
    {
      await using broker = await testBroker(store(dir.path));
      await finds(broker, [0, 10, 19]);
    }
    assert.equal(readdirSync(index).length, files);
    rmSync(index, { recursive: true });
    {
      await using broker = await testBroker(store(dir.path));
      await finds(broker, [0, 10, 19]);
    }
    assert.equal(readdirSync(index).length, files);
  });

  it('is built beside the serving when an older stretch of it is missing', async () => {
    using dir = tempDir();
    {
      await using broker = await testBroker(store(dir.path));
      using client = await broker.connect();
      await sendKeyed(client, 3);
      for (let i = 0; i < 15; i++) await send(client, { queueId: 1, body: Buffer.alloc(300_000) });
      await sendKeyed(client, 3, 3);
      await pullAll(client, 6);
    }
    rmSync(join(dir.path, 'index'), { recursive: true });
    await using broker = await testBroker(store(dir.path));
    assert.equal(broker.get(StoreState).indexInBackground, true);
    await indexed(broker);
    await finds(broker, [0, 2, 3, 5]);
    assert.ok(broker.lines.some(({ message }) => message === 'the message index is complete'));
  });

  it('is left alone while messageIndexEnable is off, and completed when it is on again', async () => {
    using dir = tempDir();
    for (const [from, messageIndexEnable] of [
      [0, true],
      [5, false],
      [10, true],
    ] as const) {
      await using broker = await testBroker(store(dir.path, { messageIndexEnable }));
      using client = await broker.connect();
      await sendKeyed(client, 5, from);
      if (!messageIndexEnable) assert.equal((await query(client, 'k5')).code, ResponseCode.QUERY_NOT_FOUND);
      else await indexed(broker);
    }
    await using broker = await testBroker(store(dir.path));
    await finds(broker, [0, 4, 5, 9, 10, 14]);
  });

  it('on a full disk stops neither sending nor pulling, makes the stop take its time, and is built at the next start', async function () {
    this.timeout(20_000);
    const disk = new LossyFiles();
    const options = { ...SIZES, memory: true };
    const broker = await testBroker({ files: disk, options });
    {
      using client = await broker.connect();
      disk.fail({ operation: 'write', path: '/index/', code: 'ENOSPC', forever: true });
      await sendKeyed(client, 5);
      assert.equal((await pullAll(client, 5)).length, 5);
      assert.equal((await query(client, 'k0')).code, ResponseCode.QUERY_NOT_FOUND);
      assert.ok(broker.lines.some(({ message }) => message.startsWith('the message index cannot be written')));
    }
    await broker.stop();
    assert.ok(broker.lines.some(({ fields }) => /could be indexed for/.test(String(fields['error']))));
    await using second = await testBroker({ files: disk.restart('nothing'), options });
    await finds(second, [0, 4]);
  });

  it('does not keep a broker from serving when it cannot be written at the start', async function () {
    this.timeout(20_000);
    const disk = new LossyFiles();
    const options = { ...SIZES, memory: true };
    {
      await using broker = await testBroker({ files: disk, options: { ...options, messageIndexEnable: false } });
      using client = await broker.connect();
      await sendKeyed(client, 5);
      await pullAll(client, 5);
    }
    const full = disk.restart('nothing');
    full.fail({ operation: 'write', path: '/index/', code: 'ENOSPC', forever: true });
    await using broker = await testBroker({ files: full, options });
    using client = await broker.connect();
    assert.equal((await send(client, { queueId: 1 })).code, 0);
    assert.equal((await pullAll(client, 5)).length, 5);
    assert.ok(broker.lines.some(({ message }) => message.startsWith('the broker serves without waiting')));
  });
});

describe('searches by time in cold files', () => {
  it('answer on a pool thread as they do near the tail', async () => {
    using dir = tempDir();
    const answers: unknown[][] = [];
    for (const hotBytes of [1 << 30, 0]) {
      await using broker = await testBroker({ options: { ...SIZES, storePathRootDir: dir.path, hotBytes } });
      using client = await broker.connect();
      if (answers.length === 0) {
        await sendKeyed(client, 9);
        await pullAll(client, 9);
      }
      const records = decodeRecords((await query(client, 'all')).body);
      const ask = async (code: number, ext: Record<string, string>): Promise<unknown> =>
        (await client.ask(code, { ext: { topic: 'T', queueId: '0', ...ext } })).ext;
      const times = [0, ...records.flatMap(({ storeTimestamp }) => [-1, 0, 1].map((ms) => storeTimestamp + ms)), 9e12];
      const found = [await ask(RequestCode.GET_EARLIEST_MSG_STORETIME, {})];
      found.push(await ask(RequestCode.GET_EARLIEST_MSG_STORETIME, { queueId: '7' }));
      for (const time of times)
        found.push(await ask(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, { timestamp: String(time) }));
      found.push(await ask(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, { timestamp: '5', topic: 'Unknown' }));
      answers.push(found);
    }
    assert.deepEqual(answers[1], answers[0]);
    assert.ok(new Set((answers[0] ?? []).map((answer) => JSON.stringify(answer))).size > 3);
  });
});
