import assert from 'node:assert/strict';
import { viewOf } from '../../../protocol/copy.js';
import {
  extOffsetOf,
  ExtUnits,
  extUnitBytes,
  isExtAddress,
  readExtUnit,
  setUnitExtOffset,
  unitExtOffset,
} from '../../../store/consumequeue/ext-unit.js';
import { unitTagsCode, writeUnit } from '../../../store/consumequeue/unit.js';

/** A ConsumeQueue unit with this tags code. */
function unitWith(tagsCode: bigint): Buffer {
  const unit = Buffer.alloc(20);
  unit.writeBigInt64BE(tagsCode, 12);
  return unit;
}

describe('address of an ext unit', () => {
  it('is what no hash and no due time is', () => {
    // 4.9: MAX_ADDR = Integer.MIN_VALUE - 1, and every Integer is a hash.
    for (const plain of [0n, -1n, 2n ** 31n - 1n, -(2n ** 31n), 1_700_000_000_000n, 2n ** 63n - 1n]) {
      assert.equal(isExtAddress(plain), false, String(plain));
      assert.equal(unitExtOffset(unitWith(plain), 0), -1, String(plain));
    }
    for (const address of [-(2n ** 31n) - 1n, -(2n ** 32n), -(2n ** 63n)]) {
      assert.equal(isExtAddress(address), true, String(address));
      assert.ok(unitExtOffset(unitWith(address), 0) >= 0, String(address));
    }
  });

  it('is the offset counted from the smallest 64-bit number on', () => {
    for (const [offset, address] of [
      [0, -9_223_372_036_854_775_808n],
      [1, -9_223_372_036_854_775_807n],
      [0x7fffffff, -9_223_372_034_707_292_161n],
      [0x80000000, -9_223_372_034_707_292_160n],
      [0xffffffff, -9_223_372_032_559_808_513n],
      [0x100000000, -9_223_372_032_559_808_512n],
      [2 ** 52, -9_218_868_437_227_405_312n],
    ] as const) {
      const unit = Buffer.alloc(20);
      writeUnit(viewOf(unit), 0, 7, 100, 1, 2);
      setUnitExtOffset(unit, 0, offset);
      assert.equal(unitTagsCode(unit, 0), address);
      assert.equal(unitExtOffset(unit, 0), offset);
      assert.equal(extOffsetOf(address), offset);
      assert.equal(unit.subarray(0, 12).toString('hex'), '000000000000000700000064');
    }
  });
});

describe('ext units', () => {
  it('are read only where a whole one stands', () => {
    const units = new ExtUnits();
    units.add(-1, -5, 1_700_000_000_000, Buffer.from('abc'));
    const bytes = Buffer.from(units.bytes.subarray(0, units.length));
    assert.equal(bytes.toString('hex'), '0017fffffffffffffffb0000018bcfe568000003616263');
    const found = readExtUnit(bytes, 0);
    assert.deepEqual([found?.bytes, found?.tagsCode, found?.storeTimestamp], [23, -5n, 1_700_000_000_000]);
    assert.equal(Buffer.from(found?.bitmap ?? []).toString(), 'abc');
    for (let end = 0; end < 23; end += 1) assert.equal(extUnitBytes(bytes, 0, end), 0, `cut at ${end}`);
    for (const [at, byte] of [
      [0, 0x80],
      [1, 19],
      [1, 24],
      [19, 4],
      [18, 0xff],
    ] as const) {
      const damaged = Buffer.from(bytes);
      damaged[at] = byte;
      assert.equal(readExtUnit(damaged, 0), undefined, `byte ${at} is ${byte}`);
    }
  });

  it('grow with what is added, and refuse a bitmap that their size cannot say', () => {
    const units = new ExtUnits();
    for (let i = 0; i < 1000; i += 1) units.add(0, i, i);
    assert.equal(units.length, 20_000);
    for (let i = 0; i < 1000; i += 1) assert.equal(readExtUnit(units.bytes, i * 20)?.tagsCode, BigInt(i));
    units.add(0, 0, 0, Buffer.alloc(32_747));
    assert.throws(() => units.add(0, 0, 0, Buffer.alloc(32_748)), /too long for an ext unit/);
  });
});
