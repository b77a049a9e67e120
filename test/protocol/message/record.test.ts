import assert from 'node:assert/strict';
import { addressBytes } from '../../../protocol/message/host.js';
import {
  BODY_CRC_AT,
  bodySizeAt,
  decodeRecord,
  decodeRecords,
  encodeRecord,
  PHYSICAL_OFFSET_AT,
  QUEUE_OFFSET_AT,
  RECORD_FIXED_BYTES,
  recordBytes,
  reconsumeTimesAt,
  storeTimestampAt,
} from '../../../protocol/message/record.js';
import { readInt64 } from '../../../protocol/int64.js';
import { ProtocolError } from '../../../protocol/errors.js';
import { golden } from '../../golden/load.js';

interface Sample {
  readonly born: string;
  readonly store: string;
  readonly topic: string;
  readonly body: string;
  readonly properties: string;
  readonly msgId: string;
  readonly hex: string;
}

describe('protocol/message/record', () => {
  const { records } = golden<{ records: Sample[] }>('records.json');
  const first = Buffer.from(records[0]!.hex, 'hex');

  for (const sample of records) {
    const title = `${sample.topic}, born ${sample.born}, stored ${sample.store}`;
    const bytes = Buffer.from(sample.hex, 'hex');

    it(`B33 decodes what 4.9.7 wrote: ${title}`, () => {
      const message = decodeRecord(bytes, 0);
      const v6 = (address: string): boolean => address.includes(':');
      assert.deepEqual(
        [message.topic, message.properties, message.msgId, message.body.toString('hex').toUpperCase()],
        [sample.topic, sample.properties, sample.msgId, sample.body],
      );
      assert.deepEqual(
        {
          totalBytes: message.totalBytes,
          queueId: message.queueId,
          flag: message.flag,
          queueOffset: message.queueOffset,
          physicalOffset: message.physicalOffset,
          bornTimestamp: message.bornTimestamp,
          storeTimestamp: message.storeTimestamp,
          reconsumeTimes: message.reconsumeTimes,
          preparedTransactionOffset: message.preparedTransactionOffset,
        },
        {
          totalBytes: bytes.length,
          queueId: 5,
          flag: -2,
          queueOffset: 2 ** 33 + 7,
          physicalOffset: 2 ** 40 + 9,
          bornTimestamp: 1700000000123,
          storeTimestamp: 1700000000456,
          reconsumeTimes: 3,
          preparedTransactionOffset: 77,
        },
      );
      assert.equal(message.sysFlag, 2 | (v6(sample.born) ? 16 : 0) | (v6(sample.store) ? 32 : 0));
      assert.match(message.bornHost, v6(sample.born) ? /^\[[0-9a-f:]+\]:40001$/ : /^[\d.]+:40001$/);
      assert.match(message.storeHost, /:10911$/);
    });

    it(`encodes it byte for byte: ${title}`, () => {
      const again = encodeRecord({
        topic: sample.topic,
        queueId: 5,
        flag: -2,
        sysFlag: 2 | 16 | 32,
        bornTimestamp: 1700000000123,
        bornAddress: addressBytes(sample.born),
        bornPort: 40001,
        storeAddress: addressBytes(sample.store),
        storePort: 10911,
        reconsumeTimes: 3,
        preparedTransactionOffset: 77,
        body: Buffer.from(sample.body, 'hex'),
        properties: sample.properties,
        queueOffset: 2 ** 33 + 7,
        physicalOffset: 2 ** 40 + 9,
        storeTimestamp: 1700000000456,
      });
      assert.equal(again.toString('hex').toUpperCase(), sample.hex);
    });
  }

  it('names where the fields lie that others write in place', () => {
    for (const { hex } of records) {
      const bytes = Buffer.from(hex, 'hex');
      const { sysFlag, body } = decodeRecord(bytes, 0);
      assert.equal(readInt64(bytes, QUEUE_OFFSET_AT), 2 ** 33 + 7);
      assert.equal(readInt64(bytes, PHYSICAL_OFFSET_AT), 2 ** 40 + 9);
      assert.equal(readInt64(bytes, storeTimestampAt(sysFlag)), 1700000000456);
      assert.equal(bytes.readInt32BE(reconsumeTimesAt(sysFlag)), 3);
      assert.equal(bytes.readInt32BE(bodySizeAt(sysFlag)), body.length);
    }
    assert.equal(BODY_CRC_AT, 8);
  });

  it('knows the size before it writes', () => {
    assert.equal(RECORD_FIXED_BYTES(false, false), 91);
    assert.equal(RECORD_FIXED_BYTES(true, true), 115);
    assert.equal(recordBytes(0, 10, 3, 5), 91 + 18);
    assert.equal(recordBytes(16, 10, 3, 5), 103 + 18);
  });

  it('reads records that follow each other, and one in the middle', () => {
    const all = Buffer.concat(records.map(({ hex }) => Buffer.from(hex, 'hex')));
    assert.deepEqual(
      decodeRecords(all).map(({ msgId }) => msgId),
      records.map(({ msgId }) => msgId),
    );
    assert.equal(decodeRecord(all, first.length).msgId, records[1]!.msgId);
    assert.equal(decodeRecords(all, first.length, first.length + decodeRecord(all, first.length).totalBytes).length, 1);
  });

  it('refuses a record whose sizes do not fit (each length field, each cut)', () => {
    for (let bytes = 0; bytes < first.length; bytes++) {
      assert.throws(() => decodeRecord(first.subarray(0, bytes), 0), ProtocolError, `cut at ${bytes}`);
    }
    const bodyAt = bodySizeAt(0);
    const bodyBytes = first.readInt32BE(bodyAt);
    const topicAt = bodyAt + 4 + bodyBytes;
    const fields = [
      [0, 4],
      [4, 4],
      [bodyAt, 4],
      [topicAt, 1],
      [topicAt + 1 + first[topicAt]!, 2],
    ] as const;
    for (const [at, size] of fields) {
      for (const change of [1, -1, 120, -120, 128]) {
        const broken = Buffer.concat([first, Buffer.alloc(200)]);
        broken.writeIntBE(
          (new Int32Array([broken.readIntBE(at, size) + change])[0]! << (32 - size * 8)) >> (32 - size * 8),
          at,
          size,
        );
        assert.throws(() => decodeRecord(broken, 0), ProtocolError, `field at ${at} changed by ${change}`);
      }
    }
  });

  it('does not write a topic or properties that their size fields cannot hold', () => {
    const input = {
      ...{ topic: 'T', queueId: 0, flag: 0, sysFlag: 0, bornTimestamp: 0, bornAddress: Buffer.alloc(4), bornPort: 1 },
      ...{ storeAddress: Buffer.alloc(4), storePort: 1, reconsumeTimes: 0, preparedTransactionOffset: 0 },
      ...{ body: Buffer.alloc(0), properties: '' },
    };
    assert.throws(() => encodeRecord({ ...input, topic: 'x'.repeat(128) }), RangeError);
    assert.throws(() => encodeRecord({ ...input, properties: '字'.repeat(10923) }), RangeError);
    assert.equal(decodeRecord(encodeRecord({ ...input, properties: 'x'.repeat(32767) }), 0).properties.length, 32767);
  });
});
