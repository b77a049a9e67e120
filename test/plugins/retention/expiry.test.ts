import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { PullSysFlag, RequestCode, ResponseCode } from '../../../protocol/codes.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { fillTopic, hours, logFiles, makeOld, queueSpan, runtimeNumber, smallFiles } from '../../support/old-store.js';
import type { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SEGMENT = smallFiles.mappedFileSizeCommitLog;
const askDeletion = async (client: RawClient): Promise<void> => {
  const { code, remark } = await client.ask(RequestCode.DELETE_EXPIRED_COMMITLOG);
  assert.deepEqual([code, remark], [ResponseCode.SUCCESS, null]);
};

function brokerOn(dir: string, more: TestBrokerOptions['options'] = {}, wishes: TestBrokerOptions = {}) {
  const options = { ...smallFiles, storePathRootDir: dir, deleteWhen: hours().never, ...more };
  return testBroker({ ...wishes, options });
}

/** Waits until the log begins at `offset` and its files are gone. */
function beginsAt(broker: TestBroker, dir: string, offset: number): Promise<void> {
  const { watermarks } = broker.get(StoreState);
  const name = String(offset).padStart(20, '0');
  return until(
    () => watermarks.get(Watermark.logMin) === offset && logFiles(dir)[0] === name,
    `the log begins at ${offset}`,
  );
}

const firstFrom = (messages: readonly StoredMessage[], physicalOffset: number): number =>
  messages.findIndex((message) => message.physicalOffset >= physicalOffset);

describe('old files of the log', () => {
  for (const [name, topology] of [
    ['in one thread', undefined],
    ['on threads of their own', dedicated],
  ] as const)
    it(`go when it is asked for, and queues begin inside their files (B16), services ${name}`, async () => {
      using dir = tempDir();
      await using broker = await brokerOn(dir.path, {}, topology === undefined ? {} : { topology });
      using client = await broker.connect();
      await fillTopic(client, 150);
      const all = await pullAll(client, 150);
      const first = firstFrom(all, 8 * SEGMENT);
      assert.ok(first > 100 && first % 100 !== 0, `${first} lies in the second queue file, behind its start`);
      makeOld(dir.path, 8);
      await askDeletion(client);
      await beginsAt(broker, dir.path, 8 * SEGMENT);
      assert.deepEqual(await queueSpan(client), [first, 150]);
      const tooSmall = await pull(client, { queueOffset: 0 });
      assert.deepEqual([tooSmall.code, tooSmall.remark], [ResponseCode.PULL_OFFSET_MOVED, 'OFFSET_TOO_SMALL']);
      assert.deepEqual([tooSmall.header.nextBeginOffset, tooSmall.header.minOffset], [first, first]);
      assert.equal((await pull(client, { queueOffset: first - 1 })).code, ResponseCode.PULL_OFFSET_MOVED);
      assert.deepEqual(
        (await pullAll(client, 150 - first, { queueOffset: first })).map(({ msgId }) => msgId),
        all.slice(first).map(({ msgId }) => msgId),
      );
      assert.equal(await runtimeNumber(client, 'commitLogMinOffset'), 8 * SEGMENT);
      assert.equal(await runtimeNumber(client, 'earliestMessageTimeStamp'), all[first].storeTimestamp);
      const queue = join(dir.path, 'consumequeue/T/0');
      await until(() => readdirSync(queue).length === 1, 'the first queue file is gone');
    });

  it('are let go of by every thread, so that the disk gets its space back', async () => {
    if (process.platform !== 'linux') return;
    using dir = tempDir();
    await using broker = await brokerOn(dir.path, {}, { topology: dedicated });
    using client = await broker.connect();
    await fillTopic(client, 150);
    await pullAll(client, 150);
    makeOld(dir.path, 8);
    await askDeletion(client);
    await beginsAt(broker, dir.path, 8 * SEGMENT);
    const open = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          const path = readlinkSync(`/proc/self/fd/${fd}`);
          return path.startsWith(dir.path) && path.endsWith('(deleted)') ? [path] : [];
        } catch {
          return [];
        }
      });
    await until(() => open().length === 0, 'no deleted file is open');
  });

  it('go within the hour of deleteWhen, and after a restart all is as before', async () => {
    using dir = tempDir();
    const options = { cleanResourceInterval: 20, deleteWhen: hours().now };
    let first: number;
    {
      await using broker = await brokerOn(dir.path, options);
      using client = await broker.connect();
      await fillTopic(client, 10, 'Gone');
      await fillTopic(client, 60);
      first = firstFrom(await pullAll(client, 60), 3 * SEGMENT);
      makeOld(dir.path, 3);
      await beginsAt(broker, dir.path, 3 * SEGMENT);
      assert.deepEqual(await queueSpan(client, 'Gone'), [10, 10], 'nothing is left of it (B16)');
    }
    await using broker = await brokerOn(dir.path, options);
    using client = await broker.connect();
    assert.deepEqual(await queueSpan(client), [first, 60]);
    assert.deepEqual(await queueSpan(client, 'Gone'), [10, 10]);
    assert.equal((await pull(client, { topic: 'Gone', queueOffset: 10 })).code, ResponseCode.PULL_NOT_FOUND);
    const moved = await pull(client, { topic: 'Gone', queueOffset: 0 });
    assert.deepEqual([moved.code, moved.header.nextBeginOffset], [ResponseCode.PULL_OFFSET_MOVED, 10]);
    const { header } = await send(client, { topic: 'Gone' });
    assert.equal(header.queueOffset, 10, 'offsets go on');
    assert.equal((await pullAll(client, 1, { topic: 'Gone', queueOffset: 10 }))[0].queueOffset, 10);
  });

  it('stay outside of the hour, and while they are younger than fileReservedTime', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path, { cleanResourceInterval: 10, fileReservedTime: 100 });
    using client = await broker.connect();
    await fillTopic(client, 60);
    makeOld(dir.path, 3, 99);
    await askDeletion(client);
    await askDeletion(client);
    makeOld(dir.path, 1, 101);
    await beginsAt(broker, dir.path, SEGMENT);
    assert.equal(logFiles(dir.path).length, 4);
  });

  it('are ten at most in one pass, and never the last', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    await fillTopic(client, 200);
    const files = logFiles(dir.path).length;
    assert.ok(files > 12);
    makeOld(dir.path, files);
    await askDeletion(client);
    await beginsAt(broker, dir.path, 10 * SEGMENT);
    await askDeletion(client);
    await beginsAt(broker, dir.path, (files - 1) * SEGMENT);
    assert.equal((await send(client)).code, 0);
  });

  it('stay while their messages are not in the queues', async () => {
    const files = new LossyFiles();
    await using broker = await testBroker({ files, options: { ...smallFiles, deleteWhen: hours().never } });
    using client = await broker.connect();
    await fillTopic(client, 40);
    await pullAll(client, 40);
    const { watermarks } = broker.get(StoreState);
    const dispatched = watermarks.get(Watermark.dispatched);
    files.fail({ operation: 'write', path: 'consumequeue', code: 'EIO', forever: true });
    await fillTopic(client, 60);
    await askDeletion(client);
    const expected = dispatched - (dispatched % SEGMENT);
    await until(() => watermarks.get(Watermark.logMin) > 0, 'what is dispatched goes');
    await askDeletion(client);
    assert.equal(watermarks.get(Watermark.logMin), expected);
    assert.equal(watermarks.get(Watermark.dispatched), dispatched);
  });

  it('stay when the queues cannot be synced, which is said once', async () => {
    const files = new LossyFiles();
    await using broker = await testBroker({ files, options: { ...smallFiles, deleteWhen: hours().never } });
    using client = await broker.connect();
    await fillTopic(client, 40);
    await pullAll(client, 40);
    files.fail({ operation: 'sync', path: 'consumequeue', code: 'EIO', forever: true });
    const said = (): number =>
      broker.lines.filter(({ message }) => /old files could not be deleted/.test(message)).length;
    await askDeletion(client);
    await until(() => said() === 1, 'it is said');
    await askDeletion(client);
    await askDeletion(client);
    assert.equal(broker.get(StoreState).watermarks.get(Watermark.logMin), 0);
    assert.equal(said(), 1);
  });

  it('are tried again when they cannot be removed, before more is given up; nothing reads them meanwhile', async () => {
    const files = new LossyFiles();
    await using broker = await testBroker({ files, options: { ...smallFiles, deleteWhen: hours().never } });
    using client = await broker.connect();
    await fillTopic(client, 200);
    const first = firstFrom(await pullAll(client, 200), 10 * SEGMENT);
    for (let time = 0; time < 2; time++) files.fail({ operation: 'unlink', path: 'commitlog', code: 'EIO' });
    await askDeletion(client);
    await until(() => broker.lines.some(({ message }) => /could not be deleted/.test(message)), 'it is said');
    assert.deepEqual(await queueSpan(client), [first, 200]);
    const { operations } = files;
    await askDeletion(client);
    await until(() => files.operations > operations, 'it is tried again');
    const { paths, watermarks } = broker.get(StoreState);
    assert.equal(watermarks.get(Watermark.logMin), 10 * SEGMENT);
    assert.ok(files.list(paths.commitLog).length > 12);
    await askDeletion(client);
    await until(() => files.list(paths.commitLog).length === 1, 'they are removed, and those behind them');
  });
});

describe('a held pull', () => {
  it('hears of the next message, though all before it were deleted', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    using waiting = await broker.connect();
    await fillTopic(client, 10);
    await fillTopic(client, 60, 'Filler');
    await pullAll(client, 60, { topic: 'Filler' });
    const held = pull(waiting, { queueOffset: 10, sysFlag: PullSysFlag.SUBSCRIPTION | PullSysFlag.SUSPEND });
    makeOld(dir.path, 3);
    await askDeletion(client);
    await beginsAt(broker, dir.path, 3 * SEGMENT);
    assert.deepEqual(await queueSpan(client), [10, 10]);
    await send(client, { body: Buffer.from('next') });
    const { messages, header } = await held;
    assert.deepEqual(
      [messages.map(({ body }) => body.toString()), header.minOffset, header.nextBeginOffset],
      [['next'], 10, 11],
    );
  });
});

describe('while files go', () => {
  it('producers and consumers go on, and nobody gets a wrong message', async () => {
    using dir = tempDir();
    const more = { fileReservedTime: 0, deleteWhen: hours().now, cleanResourceInterval: 10, hotBytes: 0 };
    await using broker = await brokerOn(dir.path, more, { topology: dedicated });
    using producer = await broker.connect();
    const rounds = 400;
    const filling = fillTopic(producer, rounds);
    let moved = 0;
    const consume = async (): Promise<void> => {
      using client = await broker.connect();
      for (let offset = 0; offset < rounds;) {
        const { code, header, messages } = await pull(client, { queueOffset: offset });
        messages.forEach((message, index) => assert.equal(message.queueOffset, messages[0].queueOffset + index));
        if (messages.length > 0) assert.ok(messages[0].queueOffset >= offset);
        if (code === ResponseCode.PULL_OFFSET_MOVED) moved++;
        assert.ok(header.nextBeginOffset >= offset, `${code}: ${header.nextBeginOffset} after ${offset}`);
        offset = header.nextBeginOffset;
      }
    };
    await Promise.all([filling, consume(), consume(), consume()]);
    await until(() => logFiles(dir.path).length === 1, 'all but the last file are gone');
    const [min, max] = await queueSpan(producer);
    assert.equal(max, rounds);
    assert.ok(min > rounds - 20 && min < rounds, `${min}`);
    const begin = await pull(producer, { queueOffset: 0 });
    assert.equal(begin.code, ResponseCode.PULL_OFFSET_MOVED);
    assert.ok(moved >= 0);
    assert.deepEqual(
      broker.lines.filter(({ level }) => level === 'error'),
      [],
    );
  });
});
