import assert from 'node:assert/strict';
import { KernelError } from '../../../kernel/base/errors.js';
import { LogReader } from '../../../plugins/commitlog/contract.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import type { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

const SEGMENT = 1 << 16;

/** Everything near the tail, and everything behind it: one reads at once, the other without holding the thread. */
for (const [name, hotBytes] of [
  ['hot', 1 << 30],
  ['cold', 0],
] as const)
  describe(`log reader, ${name}`, () => {
    const dir = tempDir();
    let broker: TestBroker;
    let client: RawClient;
    let reader: LogReader;
    const offsets: number[] = [];

    before(async () => {
      const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: SEGMENT, hotBytes };
      broker = await testBroker({ options });
      client = await broker.connect();
      reader = broker.get(LogReader);
      for (let i = 0; i < 60; i++) {
        const { header } = await send(client, { body: Buffer.alloc(i * 300, i), properties: `n\u0001${i}` });
        offsets.push(Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8)));
      }
    });

    after(async () => {
      client[Symbol.dispose]();
      await broker.stop();
      dir[Symbol.dispose]();
    });

    it('gives each record whole, over many segments', async () => {
      assert.ok(reader.maxOffset > 4 * SEGMENT);
      assert.equal(reader.isHot(reader.maxOffset - 1), hotBytes > 0);
      for (const [i, offset] of offsets.entries()) {
        const record = decodeRecord((await reader.record(offset))!, 0);
        assert.ok(record.body.equals(Buffer.alloc(i * 300, i)));
        assert.equal(await reader.storeTimestamp(offset), record.storeTimestamp);
      }
    });

    it('gives none where none begins', async () => {
      const last = offsets[offsets.length - 1];
      for (const offset of [
        -1,
        1,
        offsets[1] + 4,
        last + 8,
        reader.maxOffset,
        reader.maxOffset + 1,
        2 ** 60,
        NaN,
        0.5,
      ]) {
        assert.equal(await reader.record(offset), undefined, String(offset));
        assert.equal(await reader.storeTimestamp(offset), -1, String(offset));
      }
    });

    it('gives none where a filler stands', async () => {
      const next = offsets.find((offset) => offset > 0 && offset % SEGMENT === 0) ?? assert.fail('a segment began');
      const before = offsets[offsets.indexOf(next) - 1];
      const end = before + decodeRecord((await reader.record(before))!, 0).totalBytes;
      assert.ok(end < next);
      assert.equal(await reader.record(end), undefined);
    });

    it('reads exactly what is asked for, across segments, or says that it cannot', async () => {
      const bytes = Buffer.alloc(3 * SEGMENT);
      reader.readInto(bytes, 0, bytes.length, 10);
      const late = Buffer.alloc(3 * SEGMENT);
      await reader.readIntoAsync(late, 0, late.length, 10);
      assert.ok(bytes.equals(late));
      const isShort = (error: unknown): boolean => error instanceof KernelError && error.code === 'LOG_READ_SHORT';
      const beyond = reader.maxOffset + 10 * SEGMENT;
      assert.throws(() => reader.readInto(bytes, 0, 10, beyond), isShort);
      await assert.rejects(reader.readIntoAsync(bytes, 0, 10, beyond), isShort);
    });

    it('serves pulls the same messages', async () => {
      const messages = await pullAll(client, 60);
      messages.forEach(({ body, queueOffset }, i) => {
        assert.equal(queueOffset, i);
        assert.ok(body.equals(Buffer.alloc(i * 300, i)));
      });
      const wish = { expressionType: 'TAG', subscription: '*', maxMsgNums: 3, queueOffset: 57 };
      assert.deepEqual(
        (await pull(client, wish)).messages.map(({ queueOffset }) => queueOffset),
        [57, 58, 59],
      );
    });

    it('serves many pulls at once, each its own messages', async () => {
      const pulls = await Promise.all(
        Array.from({ length: 60 }, (_, i) => pull(client, { queueOffset: i, maxMsgNums: 2 })),
      );
      for (const [i, { messages }] of pulls.entries())
        messages.forEach(({ body, queueOffset }, j) => {
          assert.equal(queueOffset, i + j);
          assert.ok(body.equals(Buffer.alloc((i + j) * 300, i + j)));
        });
    });
  });
