import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { RequestCode } from '../../protocol/codes.js';
import { encodeEndTransaction } from '../../protocol/headers/end-transaction.js';
import { encodeBatch } from '../../protocol/message/batch.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { decodeRecords, type StoredMessage } from '../../protocol/message/record.js';
import { RawClient } from '../support/raw-client.js';
import { propertyText, pullAll, send, type Sent, type SendWish } from '../support/send-pull.js';
import { logBytes, queueBytes, unitBytes } from './support/store-folder.js';
import { startTarget, type Target, type TargetKind } from './support/target.js';

const DELAYED = 'Delayed';
const TRANSACTIONAL = 'Transactional';
const GROUP = 'PG';
const COMMIT = 8;
const ROLLBACK = 12;
/** Of the short levels, what is sent to `DELAYED` in queue 0. */
const dueSoon = 4;
const options = { messageDelayLevel: `1s 1s ${Array.from({ length: 16 }, () => '2h').join(' ')}` };

/** What was answered, and what lies in the log: by queue, without what no two runs have in common. */
interface Outcome {
  readonly answers: readonly unknown[];
  readonly queues: Readonly<Record<string, readonly object[]>>;
}

describe('delayed messages and transactions, stored by this broker and by that of 4.9.7', function () {
  this.timeout(120_000);
  const kinds: TargetKind[] = ['kernel', 'jvm'];
  let folder: string;
  let ours: Outcome;
  let theirs: Outcome;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-records-'));
    const both = await Promise.all(kinds.map((kind) => outcome(kind, join(folder, kind))));
    [ours, theirs] = both as [Outcome, Outcome];
  });
  after(() => rmSync(folder, { recursive: true }));

  it('sends and ends are answered alike', () => {
    assert.ok(theirs.answers.length > 20);
    assert.deepEqual(ours.answers, theirs.answers);
  });

  for (const name of ['SCHEDULE_TOPIC_XXXX/0', 'SCHEDULE_TOPIC_XXXX/17', `${DELAYED}/0`, '%RETRY%PG/0'])
    it(`${name} holds the same delayed messages`, () => sameIn(name));
  for (const name of ['RMQ_SYS_TRANS_HALF_TOPIC/0', 'RMQ_SYS_TRANS_OP_HALF_TOPIC/0', `${TRANSACTIONAL}/1`])
    it(`${name} holds the same of transactions`, () => sameIn(name));

  it('there is nothing else', () => {
    assert.deepEqual(Object.keys(ours.queues).sort(), Object.keys(theirs.queues).sort());
    sameIn(`${TRANSACTIONAL}/0`);
  });

  function sameIn(name: string): void {
    assert.ok((theirs.queues[name]?.length ?? 0) > 0, `4.9.7 stored something in ${name}`);
    assert.deepEqual(ours.queues[name], theirs.queues[name]);
  }
});

async function outcome(kind: TargetKind, storeDir: string): Promise<Outcome> {
  const target: Target = await startTarget({ kind, storeDir, options });
  using client = await RawClient.connect(target.broker);
  const answers = [...(await delays(client)), ...(await transactions(client))];
  await pullAll(client, dueSoon + plainInDelayed, { topic: DELAYED });
  await pullAll(client, 1, { topic: '%RETRY%PG' });
  await target.stop();
  return { answers, queues: stored(storeDir) };
}

/** Levels 0 and below, and batches, are stored at once: this many in queue 0. */
const plainInDelayed = 5;

async function delays(client: RawClient): Promise<unknown[]> {
  const answers: unknown[] = [];
  const sending = async (properties: Record<string, string>, wish: SendWish = {}): Promise<void> => {
    const all = propertyText({ KEYS: `k${answers.length}`, UNIQ_KEY: `ID${answers.length}`, ...properties });
    const body = Buffer.from(`body ${answers.length}`);
    answers.push(essence(await send(client, { topic: DELAYED, properties: all, body, ...wish })));
  };
  await sending({});
  await sending({ DELAY: '1', WAIT: 'false', TAGS: 'a' }, { flag: 5 });
  await sending({ DELAY: '1', WAIT: 'true', é: '红' });
  await sending({ DELAY: '1', TAGS: 'a || b' }, { sysFlag: 2 });
  await sending({ DELAY: '1', REAL_TOPIC: 'of an earlier delay', REAL_QID: '7' }, { sysFlag: COMMIT });
  await sending({ DELAY: '18' });
  await sending({ DELAY: '99' }, { queueId: 3 });
  await sending({ DELAY: '0' });
  await sending({ DELAY: '-1' });
  await sending({ DELAY: '1' }, { topic: '%RETRY%PG', reconsumeTimes: 3, maxReconsumeTimes: 16 });
  const inner = { flag: 0, body: Buffer.from('of a batch'), properties: propertyText({ DELAY: '1' }) };
  await sending({}, { code: RequestCode.SEND_BATCH_MESSAGE, properties: '', body: encodeBatch([inner, inner]) });
  return answers;
}

async function transactions(client: RawClient): Promise<unknown[]> {
  const answers: unknown[] = [];
  const half = async (key: string, wish: SendWish = {}, properties: Record<string, string> = {}): Promise<Sent> => {
    const all = { KEYS: key, UNIQ_KEY: `ID${key}`, TRAN_MSG: 'true', PGROUP: GROUP, ...properties };
    const base = { topic: TRANSACTIONAL, queueId: 1, sysFlag: 4, body: Buffer.from(key) };
    const sent = await send(client, { ...base, properties: propertyText(all), ...wish });
    answers.push(essence(sent));
    return sent;
  };
  const end = async ({ header }: Sent, commitOrRollback: number, wish: object = {}): Promise<void> => {
    const place = { tranStateTableOffset: header.queueOffset, commitLogOffset: parseInt(header.msgId.slice(-16), 16) };
    const request = { producerGroup: GROUP, ...place, commitOrRollback, fromTransactionCheck: false, msgId: 'any' };
    const ext = encodeEndTransaction({ ...request, ...wish });
    const { code, remark } = await client.ask(RequestCode.END_TRANSACTION, { ext });
    answers.push([code, remark]);
  };
  const first = await half('a', { flag: 3 }, { TAGS: 'x', WAIT: 'false' });
  await end(first, COMMIT, { producerGroup: 'other' });
  await end(first, ROLLBACK, { tranStateTableOffset: 77 });
  await end(first, COMMIT, { commitLogOffset: 1_000_000_000 });
  await end(first, COMMIT, { commitLogOffset: -5 });
  await end(first, COMMIT);
  await end(await half('b'), ROLLBACK);
  await end(await half('c', { code: RequestCode.SEND_MESSAGE, sysFlag: 7 }), COMMIT, { fromTransactionCheck: true });
  await end(await half('d', { sysFlag: 0 }, { TRAN_MSG: 'TRUE', CHECK_IMMUNITY_TIME_IN_SECONDS: '60' }), COMMIT);
  await half('open');
  // Marked by the client alone: in no queue, or committed for good.
  for (const sysFlag of [4, COMMIT, ROLLBACK])
    await half(`marked ${sysFlag}`, { sysFlag, queueId: 0 }, { TRAN_MSG: 'false' });
  return answers;
}

function essence({ code, remark, header }: Sent): unknown {
  const { queueId, queueOffset, msgId } = header;
  return { code, remark, queueId, queueOffset, ids: msgId.split(',').length };
}

function stored(storeDir: string): Record<string, object[]> {
  const records = decodeRecords(logBytes(storeDir));
  const queues: Record<string, object[]> = {};
  for (const record of records)
    (queues[`${record.topic}/${record.queueId}`] ??= []).push(comparable(record, records, storeDir));
  return queues;
}

function comparable(record: StoredMessage, records: readonly StoredMessage[], storeDir: string): object {
  const { queueOffset, flag, sysFlag, reconsumeTimes, preparedTransactionOffset: prepared, totalBytes } = record;
  const half = records.find(({ physicalOffset, topic }) => physicalOffset === prepared && topic !== DELAYED);
  return {
    ...{ queueOffset, flag, sysFlag, reconsumeTimes, totalBytes },
    half: prepared === 0 ? undefined : half?.body.toString(),
    body: record.body.toString(),
    properties: [...parseProperties(record.properties)].sort(),
    tagsCode: tagsCode(record, storeDir),
  };
}

/** As it stands in the queue; of a delayed message how long it waits, nothing for a record that is in no queue. */
function tagsCode(record: StoredMessage, storeDir: string): number | undefined {
  const at = record.queueOffset * unitBytes;
  const unit = queueBytes(storeDir, record.topic, record.queueId).subarray(at, at + unitBytes);
  if (unit.length < unitBytes || Number(unit.readBigInt64BE(0)) !== record.physicalOffset) return undefined;
  const code = Number(unit.readBigInt64BE(12));
  return record.topic === 'SCHEDULE_TOPIC_XXXX' ? code - record.storeTimestamp : code;
}
