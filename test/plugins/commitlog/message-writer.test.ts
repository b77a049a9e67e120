import assert from 'node:assert/strict';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { Fault } from '../../../kernel/ring/watermarks.js';
import {
  AppendGate,
  LogReader,
  MessageWriter,
  StoreState,
  type NewMessage,
} from '../../../plugins/commitlog/contract.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';

function message(more: Partial<NewMessage> = {}): NewMessage {
  return {
    topic: 'T',
    queueId: 0,
    flag: 1,
    sysFlag: 0,
    bornTimestamp: 5,
    bornAddress: Buffer.from([10, 0, 0, 1]),
    bornPort: 77,
    reconsumeTimes: 2,
    preparedTransactionOffset: 3,
    body: Buffer.from('body'),
    properties: 'a\u0001b',
    waitStore: true,
    ...more,
  };
}

describe('message writer', () => {
  it('stores a message with everything it was given, and says where', async () => {
    await using broker = await testBroker();
    const writer = broker.get(MessageWriter);
    await writer.append(message());
    const v6 = Buffer.from('20010db8000000000000000000000001', 'hex');
    const result = await writer.append(message({ queueId: 0, bornAddress: v6 }));
    assert.deepEqual([result.status, result.reason, result.queueOffset], ['stored', '', 1]);
    const record = decodeRecord((await broker.get(LogReader).record(result.physicalOffset))!, 0);
    assert.deepEqual(
      [record.topic, record.queueId, record.flag, record.bornTimestamp, record.reconsumeTimes],
      ['T', 0, 1, 5, 2],
    );
    assert.deepEqual(
      [record.preparedTransactionOffset, record.properties, record.body.toString()],
      [3, 'a\u0001b', 'body'],
    );
    assert.equal(record.storeTimestamp, result.storeTimestamp);
    assert.match(record.bornHost, /2001:db8.*77$/i);
  });

  it('keeps the order of messages that find the ring full, with the writer on a thread of its own', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: 1 << 20, ringSlots: 64 };
    await using broker = await testBroker({ options, topology: dedicated });
    const writer = broker.get(MessageWriter);
    const results = await Promise.all(Array.from({ length: 1000 }, () => writer.append(message())));
    assert.deepEqual(
      results.map(({ status, queueOffset }) => [status, queueOffset]),
      results.map((_, i) => ['stored', i]),
    );
    await broker.get(AppendGate).drained();
    assert.equal(broker.get(AppendGate).waiting, 0);
  });

  it('refuses at once what can never be stored, and goes on', async () => {
    await using broker = await testBroker({ options: { maxMessageSize: 1000, ringBytes: 262_144 } });
    const writer = broker.get(MessageWriter);
    for (const [more, reason] of [
      [{ topic: 'x'.repeat(128) }, /a topic of 128 bytes/],
      [{ properties: `k\u0001${'v'.repeat(32_766)}` }, /properties of 32768 bytes do not fit a record/],
      [{ body: Buffer.alloc(140_000) }, /needs a ring of twice its size \(ringBytes\)/],
    ] as const) {
      const result = await writer.append(message(more));
      assert.equal(result.status, 'tooLarge');
      assert.match(result.reason, reason);
    }
    // Larger than a client may send, as a log of other settings may hold it.
    assert.equal((await writer.append(message({ body: Buffer.alloc(130_000) }))).status, 'stored');
    assert.equal((await writer.append(message())).queueOffset, 1);
  });

  it('refuses everything once the log takes no more, naming why', async () => {
    await using broker = await testBroker();
    const { watermarks } = broker.get(StoreState);
    assert.equal((await broker.get(MessageWriter).append(message())).status, 'stored');
    watermarks.raise(Fault.append);
    const result = await broker.get(MessageWriter).append(message());
    assert.equal(result.status, 'readOnly');
    assert.match(result.reason, /a write to .*commitlog failed; restart the broker/);
  });
});
