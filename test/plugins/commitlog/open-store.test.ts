import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OptionValue } from '../../../config/declare.js';
import { KernelError } from '../../../kernel/base/errors.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { decodeOffsetMessageId } from '../../../protocol/message/message-id.js';
import { MAGIC_AT } from '../../../protocol/message/record.js';
import { type Checkpoint, readCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import { MESSAGE_MAGIC_V2 } from '../../../store/commitlog/damage.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { segmentName } from '../../../store/files/paths.js';
import { pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';
import { treeHash } from '../../support/tree-hash.js';

const SEGMENT = 16_384;
const QUEUE_FILE = 200;
const MESSAGES = 40;
/** So many of them are stored later than those before. */
const LATER = 5;
const BODY_BYTES = 1000;

const optionsOf = (dir: string, more: Record<string, OptionValue> = {}): Record<string, OptionValue> => ({
  storePathRootDir: dir,
  mappedFileSizeCommitLog: SEGMENT,
  mappedFileSizeConsumeQueue: QUEUE_FILE,
  maxMessageSize: 4096,
  ...more,
});

function nextMillisecond(): Promise<void> {
  const now = systemClock.wallMs();
  return until(() => systemClock.wallMs() > now, 'the next millisecond');
}

describe('opening a store', () => {
  const template = tempDir();
  const copies: Disposable[] = [];
  /** Physical offsets of the messages, in order. */
  const offsets: number[] = [];

  before(async () => {
    await using broker = await testBroker({ options: optionsOf(template.path) });
    using client = await broker.connect();
    for (let index = 0; index < MESSAGES; index += 1) {
      // A record of the same millisecond as the checkpoint may be unsynced: only a later one proves anything.
      if (index === MESSAGES - LATER) await nextMillisecond();
      const { header } = await send(client, { topic: 'T', body: Buffer.alloc(BODY_BYTES, 65 + index) });
      offsets.push(decodeOffsetMessageId(header.msgId).physicalOffset);
    }
    assert.equal(broker.get(StoreState).watermarks.get(Watermark.appended) > 2 * SEGMENT, true);
  });

  after(() => {
    for (const copy of [...copies, template]) copy[Symbol.dispose]();
  });

  function store(): string {
    const copy = tempDir();
    copies.push(copy);
    cpSync(template.path, copy.path, { recursive: true });
    return copy.path;
  }

  const log = (dir: string, base = 0): string => join(dir, 'commitlog', segmentName(base));
  const queue = (dir: string, base = 0): string => join(dir, 'consumequeue', 'T', '0', segmentName(base));
  const start = (dir: string, more?: Record<string, OptionValue>): Promise<TestBroker> =>
    testBroker({ options: optionsOf(dir, more) });

  async function poke(path: string, position: number, bytes: Buffer): Promise<void> {
    const file = await open(path, 'r+');
    await file.write(bytes, 0, bytes.length, position);
    await file.close();
  }

  /** It does not start, says why, and leaves every byte as it was. */
  async function assertRefused(
    dir: string,
    code: string,
    said: RegExp,
    more?: Record<string, OptionValue>,
  ): Promise<void> {
    const before = treeHash(dir);
    const started = start(dir, more).then((broker) => broker.stop());
    await assert.rejects(started, (error: unknown) => {
      assert.ok(error instanceof KernelError);
      assert.equal((error.cause as KernelError).code, code, error.line());
      assert.match(error.line(), said);
      return true;
    });
    assert.equal(treeHash(dir), before, 'the folder changed');
  }

  async function assertAllReadable(broker: TestBroker, messages = MESSAGES): Promise<void> {
    using client = await broker.connect();
    const found = await pullAll(client, messages, { topic: 'T' });
    assert.deepEqual(
      found.map((message) => message.body[0]),
      Array.from({ length: messages }, (_, index) => 65 + index),
    );
  }

  describe('with files of another size (B04)', () => {
    it('B04 a: drops an empty last commit log file, reads all, appends at the right offset', async () => {
      const dir = store();
      const next = 3 * SEGMENT;
      writeFileSync(log(dir, next), '');
      await using broker = await start(dir);
      await assertAllReadable(broker);
      assert.equal(existsSync(log(dir, next)), false);
      const at = broker.get(StoreState).watermarks.get(Watermark.appended);
      using client = await broker.connect();
      const sent = await send(client, { topic: 'T', body: Buffer.alloc(BODY_BYTES, 65 + MESSAGES) });
      assert.equal(sent.header.queueOffset, MESSAGES);
      assert.equal(decodeOffsetMessageId(sent.header.msgId).physicalOffset, at);
      await assertAllReadable(broker, MESSAGES + 1);
    });

    it('B04 a: drops an empty last queue file, reads all, goes on at the right offset', async () => {
      const dir = store();
      writeFileSync(queue(dir, 5 * QUEUE_FILE), '');
      await using broker = await start(dir);
      await assertAllReadable(broker);
      using client = await broker.connect();
      const sent = await send(client, { topic: 'T', body: Buffer.alloc(BODY_BYTES, 65 + MESSAGES) });
      assert.equal(sent.header.queueOffset, MESSAGES);
      await assertAllReadable(broker, MESSAGES + 1);
    });

    it('B04 b: refuses a first commit log file that is a byte short, names it and both lengths, changes nothing', async () => {
      const dir = store();
      // Nor does it make any: a copy may come without it.
      rmSync(join(dir, 'lock'));
      truncateSync(log(dir), SEGMENT - 1);
      await assertRefused(dir, 'SEGMENT_SIZE', new RegExp(`${log(dir)} has ${SEGMENT - 1} bytes, .* is ${SEGMENT}`));
    });

    it('B04 b: builds a queue again whose first file is a byte short', async () => {
      const dir = store();
      truncateSync(queue(dir), QUEUE_FILE - 1);
      await using broker = await start(dir);
      await assertAllReadable(broker);
      assert.equal(statSync(queue(dir)).size, QUEUE_FILE);
    });

    it('B04 c: refuses another mappedFileSizeCommitLog, names file and both lengths, changes nothing', async () => {
      const dir = store();
      const wrong = { mappedFileSizeCommitLog: 2_097_152 };
      await assertRefused(dir, 'SEGMENT_SIZE', new RegExp(`${log(dir)} has ${SEGMENT} bytes, .* is 2097152`), wrong);
    });

    it('B04 c: builds the queues again for another mappedFileSizeConsumeQueue', async () => {
      const dir = store();
      await using broker = await start(dir, { mappedFileSizeConsumeQueue: 400 });
      await assertAllReadable(broker);
      assert.deepEqual(
        [...new Set(readdirSync(dirname(queue(dir))).map((name) => statSync(join(dirname(queue(dir)), name)).size))],
        [400],
      );
    });
  });

  describe('of another layout', () => {
    it('refuses a file in the place of a folder', async () => {
      for (const name of ['commitlog', 'consumequeue', 'index', 'config']) {
        const dir = store();
        rmSync(join(dir, name), { recursive: true, force: true });
        writeFileSync(join(dir, name), 'x');
        await assertRefused(dir, 'STORE_LAYOUT', new RegExp(`${join(dir, name)} is a file`));
      }
    });

    it("refuses a file in the place of a queue's folder", async () => {
      const dir = store();
      writeFileSync(join(dir, 'consumequeue', 'T', '7'), 'x');
      await assertRefused(dir, 'STORE_LAYOUT', /consumequeue\/T\/7 is a file/);
    });

    it('refuses the folders of DLedger and of RocketMQ 5', async () => {
      for (const [name, said] of [
        ['dledger-n0', /dledger-n0: .*DLedger/],
        ['timerwheel', /timerwheel: .*RocketMQ 5/],
        ['consumequeue/CURRENT', /CURRENT: .*RocksDB/],
      ] as const) {
        const dir = store();
        mkdirSync(join(dir, name));
        await assertRefused(dir, 'STORE_FOREIGN', said);
      }
    });

    it('refuses a folder that never was ours without making anything in it', async () => {
      const dir = tempDir();
      copies.push(dir);
      mkdirSync(join(dir.path, 'dledger-n1'));
      await assertRefused(dir.path, 'STORE_FOREIGN', /DLedger/);
    });

    it('refuses a record of RocketMQ 5, names its place, changes nothing, whatever is set', async () => {
      const dir = store();
      const magic = Buffer.alloc(4);
      magic.writeInt32BE(MESSAGE_MAGIC_V2);
      const at = offsets[MESSAGES - 5]!;
      const base = at - (at % SEGMENT);
      await poke(log(dir, base), (at % SEGMENT) + MAGIC_AT, magic);
      const said = new RegExp(`${log(dir, base)} at ${at % SEGMENT}: .*RocketMQ 5`);
      await assertRefused(dir, 'STORE_FOREIGN', said);
      writeFileSync(join(dir, 'abort'), '');
      await assertRefused(dir, 'STORE_FOREIGN', said, { truncateDamagedLog: true });
    });

    it('refuses files that are no commit log, although their names and sizes fit', async () => {
      const dir = store();
      rmSync(join(dir, 'commitlog'), { recursive: true });
      mkdirSync(join(dir, 'commitlog'));
      writeFileSync(log(dir), Buffer.alloc(SEGMENT, 'just some text. '));
      await assertRefused(dir, 'STORE_FOREIGN', new RegExp(`${log(dir)} at 0: .*no commit log`));
    });
  });

  describe('with damage among synced records', () => {
    const victim = MESSAGES - LATER;
    const place = (dir: string): { path: string; position: number } => {
      const at = offsets[victim]!;
      return { path: log(dir, at - (at % SEGMENT)), position: at % SEGMENT };
    };

    async function damaged(abort: boolean): Promise<string> {
      const dir = store();
      const { path, position } = place(dir);
      await poke(path, position + 500, Buffer.from([0]));
      if (abort) writeFileSync(join(dir, 'abort'), '');
      return dir;
    }

    for (const abort of [false, true])
      it(`refuses after ${abort ? 'a crash' : 'a normal end'}: names file, position, and how much follows`, async () => {
        const dir = await damaged(abort);
        const { path, position } = place(dir);
        const said = new RegExp(
          `${path} at ${position}: body checksum.*; \\d+ bytes in 4 whole records follow.*store verify`,
        );
        await assertRefused(dir, 'LOG_DAMAGED', said);
      });

    it('refuses when the last file is missing, until told to go on without it', async () => {
      const dir = store();
      const last = log(dir, 2 * SEGMENT);
      rmSync(last);
      await assertRefused(dir, 'LOG_DAMAGED', new RegExp(`${last} at 0: the file is missing; the queues have records`));
      {
        await using broker = await start(dir, { truncateDamagedLog: true });
        await assertAllReadable(broker, offsets.filter((offset) => offset < 2 * SEGMENT).length);
      }
      await (await start(dir)).stop();
    });

    it('keeps what it knows of synced messages over starts that write nothing', async () => {
      const dir = store();
      const checkpoint = (): Checkpoint => readCheckpoint(nodeFiles, join(dir, 'checkpoint'));
      const { physicMsgTimestamp } = checkpoint();
      assert.ok(physicMsgTimestamp > 0);
      // A crash, after which all is dispatched again.
      writeFileSync(join(dir, 'abort'), '');
      await (await start(dir)).stop();
      assert.equal(checkpoint().physicMsgTimestamp, physicMsgTimestamp);
    });

    it('cuts there when told to, and the next start needs no telling', async () => {
      const dir = await damaged(false);
      {
        await using broker = await start(dir, { truncateDamagedLog: true });
        await assertAllReadable(broker, victim);
        assert.match(JSON.stringify(broker.lines), /the log is cut all the same/);
      }
      await using broker = await start(dir);
      await assertAllReadable(broker, victim);
    });
  });
});
