import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readInt64, writeInt64 } from '../../protocol/int64.js';

describe('protocol/int64', () => {
  it('writes and reads what Node does with BigInt', () => {
    const mine = Buffer.alloc(10);
    const other = Buffer.alloc(10);
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        assert.equal(writeInt64(mine, value, 1), 9);
        other.writeBigInt64BE(BigInt(value), 1);
        assert.deepEqual(mine, other);
        assert.equal(readInt64(mine, 1), value);
      }),
    );
  });
});
