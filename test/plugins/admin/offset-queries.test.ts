import assert from 'node:assert/strict';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import { FakeClock } from '../../support/fake-clock.js';
import type { RawClient } from '../../support/raw-client.js';
import { pullAll, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

describe('offset queries', () => {
  const clock = new FakeClock();
  const begun = clock.wallMs();
  let broker: TestBroker;
  let client: RawClient;
  const ids: string[] = [];

  /** Queue 0 of T holds five messages, stored 100 ms after each other. */
  before(async () => {
    broker = await testBroker({ clock });
    client = await broker.connect();
    for (let i = 0; i < 5; i++) {
      ids.push((await send(client, { body: Buffer.from(`m${i}`) })).header.msgId);
      clock.advance(100);
    }
    await pullAll(client, 5);
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  async function ask(code: number, ext: Record<string, string>, name: string): Promise<number> {
    const values: string[] = [];
    for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ]) {
      const answer = await client.ask(code, { ext: { topic: 'T', queueId: '0', ...ext }, serialize });
      assert.deepEqual([answer.code, answer.remark], [0, null]);
      values.push(answer.ext[name]);
    }
    assert.equal(values[0], values[1]);
    return Number(values[0]);
  }

  // 4.9: ConsumeQueue#getOffsetInQueueByTime: the exact one, else the nearer neighbour, the earlier of two equally near.
  for (const [ms, offset] of [
    [-1000, 0],
    [0, 0],
    [49, 0],
    [50, 0],
    [51, 1],
    [100, 1],
    [249, 2],
    [251, 3],
    [400, 4],
    [401, 4],
    [100_000, 4],
  ])
    it(`29: ${ms} ms after the first message lies offset ${offset}`, async () => {
      const ext = { timestamp: String(begun + ms) };
      assert.equal(await ask(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, ext, 'offset'), offset);
    });

  it('45: progress of each delay level', async () => {
    const { code, body } = await client.ask(RequestCode.GET_ALL_DELAY_OFFSET);
    assert.deepEqual([code, body.toString()], [0, '{"offsetTable":{}}']);
  });

  it('30 and 31: maximum and minimum', async () => {
    assert.equal(await ask(RequestCode.GET_MAX_OFFSET, {}, 'offset'), 5);
    assert.equal(await ask(RequestCode.GET_MIN_OFFSET, {}, 'offset'), 0);
    const { queueTable } = broker.get(StoreState);
    queueTable.set(queueTable.find('T', 0), QueueWord.minimum, 2);
    assert.equal(await ask(RequestCode.GET_MIN_OFFSET, {}, 'offset'), 2);
    assert.equal(await ask(RequestCode.GET_EARLIEST_MSG_STORETIME, {}, 'timestamp'), begun + 200);
    queueTable.set(queueTable.find('T', 0), QueueWord.minimum, 0);
  });

  it('32: when the first message was stored', async () => {
    assert.equal(await ask(RequestCode.GET_EARLIEST_MSG_STORETIME, {}, 'timestamp'), begun);
  });

  it('answer for queues that are not there, and make none', async () => {
    const { queueTable } = broker.get(StoreState);
    const rows = queueTable.count;
    for (const ext of [
      { topic: 'T', queueId: '9' },
      { topic: 'Unknown', queueId: '0' },
      { topic: '../../x', queueId: '-1' },
    ]) {
      assert.equal(await ask(RequestCode.GET_MAX_OFFSET, ext, 'offset'), 0);
      assert.equal(await ask(RequestCode.GET_MIN_OFFSET, ext, 'offset'), 0);
      assert.equal(await ask(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, { ...ext, timestamp: '1' }, 'offset'), 0);
      assert.equal(await ask(RequestCode.GET_EARLIEST_MSG_STORETIME, ext, 'timestamp'), -1);
    }
    assert.equal(queueTable.count, rows);
  });

  it('33: the record at a physical offset, byte for byte', async () => {
    const stored = await pullAll(client, 5);
    for (const [i, { physicalOffset, msgId }] of stored.entries()) {
      const { code, body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, {
        ext: { offset: String(physicalOffset) },
      });
      assert.equal(code, 0);
      const record = decodeRecord(body, 0);
      assert.equal(record.totalBytes, body.length);
      assert.deepEqual([record.body.toString(), record.msgId, msgId], [`m${i}`, ids[i], ids[i]]);
    }
  });

  it('33: 1 where no record begins', async () => {
    for (const offset of ['-1', '1', '100000', '9007199254740993']) {
      const { code, remark } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset } });
      assert.equal(code, 1);
      assert.match(String(remark), /^can not find message by the offset, /);
    }
  });

  it('33: records larger than one read', async () => {
    const { header } = await send(client, { topic: 'Large', body: Buffer.alloc(1 << 20, 5) });
    const offset = Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8));
    const { body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset: String(offset) } });
    assert.ok(decodeRecord(body, 0).body.equals(Buffer.alloc(1 << 20, 5)));
  });

  for (const code of [29, 30, 31, 32, 33])
    it(`${code}: 1 for a missing field, naming it`, async () => {
      const answer = await client.ask(code, { ext: {} });
      assert.equal(answer.code, 1);
      assert.match(String(answer.remark), /topic|offset/);
    });
});
