import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkRecord, DAMAGED, NEED_MORE, scanRecord } from '../../../store/commitlog/record-scan.js';
import { testRecord } from '../../support/records.js';

const record = testRecord({
  physicalOffset: 4711,
  body: Buffer.alloc(300, 9),
  properties: 'TAGS\u0001a\u0002KEYS\u0001k',
});

describe('scanRecord', () => {
  it('gives the size of a record that lies where it says', () => {
    assert.equal(scanRecord(record, 0, record.length, 4711), record.length);
    assert.equal(scanRecord(Buffer.concat([Buffer.alloc(5), record]), 5, 36, 4711), record.length);
  });

  it('wants more until the head is there', () => {
    for (const available of [0, 7, 8, 35]) assert.equal(scanRecord(record, 0, available, 4711), NEED_MORE);
    assert.equal(scanRecord(record, 0, 36, 4711), record.length);
  });

  it('takes no record from elsewhere', () => {
    assert.equal(scanRecord(record, 0, record.length, 4712), DAMAGED);
  });

  it('gives the size of a filler, negated', () => {
    const filler = Buffer.alloc(8);
    filler.writeInt32BE(-875286124, 4);
    filler.writeInt32BE(1234, 0);
    assert.equal(scanRecord(filler, 0, 8, 0), -1234);
    filler.writeInt32BE(8, 0);
    assert.equal(scanRecord(filler, 0, 8, 0), -8);
    filler.writeInt32BE(7, 0);
    assert.equal(scanRecord(filler, 0, 8, 0), DAMAGED);
    filler.writeInt32BE(-5, 0);
    assert.equal(scanRecord(filler, 0, 8, 0), DAMAGED);
  });

  it('finds nothing in zeros and in sizes no record has', () => {
    assert.equal(scanRecord(Buffer.alloc(100), 0, 100, 0), DAMAGED);
    for (const size of [90, 0, -1, -2147483648]) {
      const broken = Buffer.from(record);
      broken.writeInt32BE(size, 0);
      assert.equal(scanRecord(broken, 0, broken.length, 4711), DAMAGED);
    }
  });
});

describe('checkRecord', () => {
  it('accepts a whole record', () => {
    assert.equal(checkRecord(record, 0, 4711, { crc: true }), undefined);
    assert.equal(checkRecord(Buffer.concat([record, record]), record.length, 4711, { crc: true }), undefined);
    const empty = testRecord({ physicalOffset: 0, body: Buffer.alloc(0), topic: '' });
    assert.equal(empty.length, 91);
    assert.equal(checkRecord(empty, 0, 0, { crc: true }), undefined);
  });

  it('names a changed body by its checksum, and lets it pass when that is not asked for', () => {
    const changed = Buffer.from(record);
    changed[100] = (changed[100] ?? 0) ^ 1;
    assert.match(checkRecord(changed, 0, 4711, { crc: true }) ?? '', /^body checksum is \d+, the record says \d+$/);
    assert.equal(checkRecord(changed, 0, 4711, { crc: false }), undefined);
  });

  it('finds every change of a length field', () => {
    const sizeAt = [0, 84, 84 + 4 + 300, 84 + 4 + 300 + 2, record.length - 14];
    for (const at of sizeAt) {
      for (const delta of [1, 255]) {
        const changed = Buffer.from(record);
        changed[at] = ((changed[at] ?? 0) + delta) & 255;
        assert.notEqual(checkRecord(changed, 0, 4711, { crc: true }), undefined, `byte ${at}`);
      }
    }
  });

  it('refuses a record that is cut short, at any length', () => {
    for (let length = 0; length < record.length; length += 1)
      assert.notEqual(checkRecord(record.subarray(0, length), 0, 4711, { crc: true }), undefined);
  });

  it('never throws and never reads beyond, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(3), fc.nat(399), fc.nat(255), (noise, kind, at, value) => {
        const bytes = kind === 0 ? Buffer.from(noise) : Buffer.from(record);
        if (at < bytes.length) bytes[at] = value;
        if (kind === 2 && at + 4 <= bytes.length) bytes.writeInt32BE(value << 24, at);
        checkRecord(bytes, 0, 4711, { crc: true });
        scanRecord(bytes, 0, bytes.length, 4711);
      }),
      { numRuns: 2000 },
    );
  });
});
