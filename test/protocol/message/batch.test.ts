import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ProtocolError } from '../../../protocol/errors.js';
import { viewOf } from '../../../protocol/copy.js';
import { BatchReader, countBatch, decodeBatch, encodeBatch } from '../../../protocol/message/batch.js';
import { golden } from '../../golden/load.js';

describe('protocol/message/batch', () => {
  const { batch, batchProperties } = golden<{ batch: string; batchProperties: string[] }>('records.json');
  const bytes = Buffer.from(batch, 'hex');

  it('reads and writes what the real client packs', () => {
    const messages = decodeBatch(bytes);
    assert.deepEqual(
      messages.map(({ properties }) => properties),
      batchProperties,
    );
    assert.deepEqual(
      messages.map(({ flag, body }) => [flag, Buffer.from(body).toString()]),
      [
        [3, 'one'],
        [0, 'hello 主题 😀'],
      ],
    );
    assert.equal(encodeBatch(messages).toString('hex').toUpperCase(), batch);
  });

  it('walks without copying, also from the middle of a buffer', () => {
    const shifted = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')]);
    const reader = new BatchReader().reset(viewOf(shifted), 6, 6 + bytes.length);
    const bodies: string[] = [];
    while (reader.next()) bodies.push(shifted.toString('utf8', reader.bodyStart, reader.bodyEnd));
    assert.deepEqual(bodies, ['one', 'hello 主题 😀']);
    assert.equal(reader.next(), false);
    assert.equal(countBatch(shifted, 6, 6 + bytes.length), 2);
  });

  it('brings back any messages', () => {
    const message = fc.record({
      flag: fc.integer({ min: -2147483648, max: 2147483647 }),
      body: fc.uint8Array(),
      properties: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const again = decodeBatch(encodeBatch(messages));
        assert.deepEqual(
          again.map(({ flag, body, properties }) => [flag, [...body], properties]),
          messages.map(({ flag, body, properties }) => [flag, [...body], Buffer.from(properties).toString()]),
        );
      }),
    );
  });

  it('refuses a batch cut anywhere but between two records', () => {
    const boundary = bytes.readInt32BE(0);
    for (let end = 1; end < bytes.length; end++) {
      if (end === boundary) assert.equal(countBatch(bytes, 0, end), 1);
      else assert.throws(() => countBatch(bytes, 0, end), ProtocolError, `cut at ${end}`);
    }
  });

  it('refuses inner lengths that are negative, pass the body or do not add up', () => {
    const propertiesAt = 20 + bytes.readInt32BE(16);
    for (const [at, values] of [
      [0, [-1, 0, 21, 0x7fffffff, bytes.readInt32BE(0) + 1, bytes.readInt32BE(0) - 1]],
      [16, [-1, 0x7fffffff, 4, 2, -2147483648]],
    ] as const) {
      for (const value of values) {
        const broken = Buffer.from(bytes);
        broken.writeInt32BE(value, at);
        assert.throws(() => countBatch(broken), ProtocolError, `${value} at ${at}`);
      }
    }
    for (const value of [-1, 0, 32767, -32768]) {
      const broken = Buffer.from(bytes);
      broken.writeInt16BE(value, propertiesAt);
      assert.throws(() => countBatch(broken), ProtocolError, `properties of ${value}`);
    }
  });

  it('any bytes end in an error or in whole records, without reading beyond the end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (noise) => {
        try {
          countBatch(Buffer.from(noise));
        } catch (error) {
          assert.ok(error instanceof ProtocolError);
        }
      }),
    );
  });

  it('does not write properties too long for their size field', () => {
    assert.throws(() => encodeBatch([{ flag: 0, body: Buffer.alloc(1), properties: 'x'.repeat(32768) }]), RangeError);
  });
});
