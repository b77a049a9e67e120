import assert from 'node:assert/strict';
import { indexShape } from '../../../store/verify/index-check.js';
import { assertFirst, INDEX, INDEX_ENTRIES_AT, int32, int64, java, NOW, poke, SEGMENT } from './golden-damage.js';

describe('verifying an index file finds, with its position,', () => {
  it('a loop in a chain of the index, a wrong link, slot, hash, place, count', () => {
    const entry = (number: number): number => INDEX_ENTRIES_AT + number * 20;
    const cases: [position: number, bytes: Buffer, at: number, says: RegExp][] = [
      [entry(9) + 16, int32(9), entry(9) + 16, /entry 9: .* loop in the chain/],
      [entry(9) + 16, int32(30), entry(9) + 16, /entry 9: .* loop in the chain/],
      [entry(1) + 16, int32(-5), entry(1) + 16, /entry 1: the one before it .* is 0/],
      [entry(9), int32(-1), entry(9), /key hash is -1/],
      [entry(9) + 4, int64(3), entry(9) + 4, /no record begins at 3/],
      [entry(9) + 4, int64(9 * SEGMENT), entry(9) + 4, /behind the log's end/],
      [36, int32(65), 36, /count of entries is 65, and it has room for 64/],
      [32, int32(1), 32, /1 slots are used/],
      [0, int64(NOW), 0, /ends before it begins/],
    ];
    for (const [position, bytes, at, says] of cases) {
      const files = java();
      poke(files, INDEX, position, bytes);
      assertFirst(files, { file: INDEX, position: at, says });
    }
    const slot = java();
    poke(slot, INDEX, 40, Buffer.concat([int32(63), int32(63)]));
    assertFirst(slot, { file: INDEX, position: 40, says: /slot 0 says that its newest entry is 63/ });
    const key = java();
    // The same slot, so that only the record can tell.
    const hash = key.readAll(INDEX).readInt32BE(entry(9));
    poke(key, INDEX, entry(9), int32(hash < 0x7fffff00 ? hash + 16 : hash - 16));
    assertFirst(key, { file: INDEX, position: entry(9), says: /no key of the record at \d+ has the hash/ });
    const size = java();
    size.open(INDEX, 'readWrite').truncate(1383);
    assertFirst(size, { file: INDEX, position: 1383, says: /fit no index file/ });
  });

  it('how many slots and entries it has', () => {
    const byDefault = 40 + 5_000_000 * 4 + 20_000_000 * 20;
    assert.deepEqual(indexShape(byDefault, undefined, undefined), {
      slots: 5_000_000,
      entries: 20_000_000,
      fileBytes: byDefault,
    });
    assert.deepEqual(indexShape(1384, undefined, undefined), { slots: 16, entries: 64, fileBytes: 1384 });
    assert.deepEqual(indexShape(40 + 7 * 4 + 3 * 20, 7, 3), { slots: 7, entries: 3, fileBytes: 40 + 7 * 4 + 3 * 20 });
    assert.deepEqual(indexShape(40 + 7 * 4 + 3 * 20, 7, undefined), {
      slots: 7,
      entries: 3,
      fileBytes: 40 + 7 * 4 + 3 * 20,
    });
    assert.equal(indexShape(1383, undefined, undefined), undefined);
    assert.equal(indexShape(40, undefined, undefined), undefined);
  });
});
