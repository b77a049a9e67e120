import assert from 'node:assert/strict';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { StoreState } from '../../plugins/commitlog/contract.js';
import { decodeRecord, BLANK_MAGIC } from '../../protocol/message/record.js';
import { checkRecord, scanRecord } from '../../store/commitlog/record-scan.js';
import type { RawClient } from '../support/raw-client.js';
import { send } from '../support/send-pull.js';
import { testBroker, type TestBroker } from '../support/test-broker.js';

const SEGMENT = 4096;

/**
 * The tour, second part: the commit log. All messages of all topics stand in it, one behind the other, in files of equal size that
 * are named after the offset of their first byte. (workers/commitlog writes it, store/commitlog knows its layout.)
 *
 * Before: 1-send. Next: 3-dispatch sorts the messages into queues.
 */
describe('flow 2: the message is in the commit log', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker({ options: { mappedFileSizeCommitLog: SEGMENT } });
    client = await broker.connect();
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  function segment(base: number): Buffer {
    const { files, paths } = broker.get(StoreState);
    return files.readAll(`${paths.commitLog}/${String(base).padStart(20, '0')}`);
  }

  it('as a record: everything that was sent, and what only the store knows', async () => {
    await send(client, { topic: 'Orders', queueId: 1, body: Buffer.from('two apples'), properties: 'TAGS\u0001new' });
    const bytes = segment(0);
    assert.equal(bytes.length, SEGMENT, 'a segment has its full size from the beginning');
    const record = decodeRecord(bytes, 0);
    assert.equal(record.topic, 'Orders');
    assert.equal(record.body.toString(), 'two apples');
    assert.equal(record.properties, 'TAGS\u0001new\u0002CLUSTER\u0001DefaultCluster', 'the broker adds its cluster');
    assert.deepEqual([record.queueId, record.queueOffset, record.physicalOffset], [1, 0, 0]);
    assert.ok(record.storeTimestamp > record.bornTimestamp);
    assert.equal(checkRecord(bytes, 0, 0, { crc: true }), undefined, 'and a checksum of the body');
    assert.equal(broker.get(StoreState).watermarks.get(Watermark.appended), record.totalBytes);
  });

  it('behind it the next one, of whatever topic', async () => {
    const end = decodeRecord(segment(0), 0).totalBytes;
    await send(client, { topic: 'Parcels', body: Buffer.from('one box') });
    const next = decodeRecord(segment(0), end);
    assert.deepEqual([next.topic, next.physicalOffset, next.queueOffset], ['Parcels', end, 0]);
  });

  it('in the next segment when the present one has no room: a filler says that the rest holds nothing', async () => {
    await send(client, { topic: 'Orders', body: Buffer.alloc(3000) });
    await send(client, { topic: 'Orders', body: Buffer.alloc(3000) });
    const bytes = segment(0);
    let at = 0;
    for (let size = 0; size >= 0; at += size) {
      size = scanRecord(bytes, at, SEGMENT - at, at);
      if (size < 0) break;
    }
    assert.deepEqual([bytes.readInt32BE(at), bytes.readInt32BE(at + 4)], [SEGMENT - at, BLANK_MAGIC]);
    assert.equal(decodeRecord(segment(SEGMENT), 0).physicalOffset, SEGMENT);
  });
});
