import assert from 'node:assert/strict';
import { setInt64 } from '../../../protocol/int64.js';
import { viewOf } from '../../../protocol/copy.js';
import { OpRecord } from '../../../protocol/message/op-record.js';
import {
  decodeRecord,
  PHYSICAL_OFFSET_AT,
  QUEUE_OFFSET_AT,
  storeTimestampAt,
} from '../../../protocol/message/record.js';

const ADDRESS = Buffer.from([127, 0, 0, 1]);
const PORT = 0x79a9;

/** Two that 4.9.7 wrote when a half was committed, of the halves 0 and 9. */
const written = [
  '00000087daa320a774dbdf2100000000000000000000000000000000000000000000101500000000000001a22cbdfd1a7f000001000079a9000001a22cbdfd1c' +
    '7f000001000079a900000000000000000000000000000001301b524d515f5359535f5452414e535f4f505f48414c465f544f5049430010574149540174727565' +
    '02544147530164',
  '00000087daa320a70d0767850000000000000000000000000000000a000000000000260000000000000001a22cbdfd637f000001000079a9000001a22cbdfd63' +
    '7f000001000079a900000000000000000000000000000001391b524d515f5359535f5452414e535f4f505f48414c465f544f5049430010574149540174727565' +
    '02544147530164',
].map((hex) => Buffer.from(hex, 'hex'));

describe('op record', () => {
  for (const theirs of written)
    it(`of half ${decodeRecord(theirs, 0).body.toString()} is byte for byte what 4.9.7 writes`, () => {
      const { body, bornTimestamp, queueOffset, physicalOffset, storeTimestamp } = decodeRecord(theirs, 0);
      const record = new OpRecord(ADDRESS, PORT);
      const ours = Buffer.alloc(record.sizeFor(Number(body.toString())) + 3);
      const view = viewOf(ours);
      record.write(view, 3, Number(body.toString()), bornTimestamp);
      // What the log's writer stamps.
      setInt64(view, 3 + QUEUE_OFFSET_AT, queueOffset);
      setInt64(view, 3 + PHYSICAL_OFFSET_AT, physicalOffset);
      setInt64(view, 3 + storeTimestampAt(0), storeTimestamp);
      assert.equal(ours.subarray(3).toString('hex'), theirs.toString('hex'));
    });

  it('holds offsets of any length, and IPv6 hosts', () => {
    for (const address of [ADDRESS, Buffer.alloc(16, 7)])
      for (const offset of [0, 9, 10, 99, 100, 4_294_967_296, 123_456_789_012_345, Number.MAX_SAFE_INTEGER]) {
        const record = new OpRecord(address, PORT);
        const bytes = Buffer.alloc(record.sizeFor(offset));
        record.write(viewOf(bytes), 0, offset, 5);
        const { body, topic, properties, totalBytes, bornTimestamp } = decodeRecord(bytes, 0);
        assert.deepEqual(
          [body.toString(), topic, properties, totalBytes, bornTimestamp],
          [String(offset), 'RMQ_SYS_TRANS_OP_HALF_TOPIC', 'WAIT\u0001true\u0002TAGS\u0001d', bytes.length, 5],
        );
      }
  });
});
