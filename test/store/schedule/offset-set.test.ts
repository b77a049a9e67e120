import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BLOCK_OFFSETS, OffsetSet } from '../../../store/schedule/offset-set.js';

function copyOf(set: OffsetSet): OffsetSet {
  const copy = new OffsetSet();
  for (const content of set.contents()) copy.put(content);
  return copy;
}

describe('offset set', () => {
  it('holds what a set holds, also after it was written down', () => {
    const offset = fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: BLOCK_OFFSETS - 5, max: BLOCK_OFFSETS + 5 }),
      fc.constantFrom(2 ** 40, 2 ** 40 + 1, 2 ** 47),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), offset), { maxLength: 200 }), offset, (steps, other) => {
        let set = new OffsetSet();
        const model = new Set<number>();
        for (const [adds, at] of steps) {
          if (adds) {
            set.add(at);
            model.add(at);
          } else {
            assert.equal(set.delete(at), model.delete(at));
          }
          if (at % 7 === 0) set = copyOf(set);
        }
        assert.equal(set.count, model.size);
        for (const [, at] of steps) assert.equal(set.has(at), model.has(at), String(at));
        assert.equal(set.has(other), model.has(other));
      }),
    );
  });

  it('changes a block from bits to a list and back', () => {
    const set = new OffsetSet();
    const count = 20_000;
    for (let at = 0; at < count; at++) set.add(at);
    assert.deepEqual(
      set.contents().map(({ form }) => form),
      ['bits'],
    );
    for (let at = 0; at < count; at++) if (at % 100 !== 0) assert.ok(set.delete(at));
    assert.deepEqual(
      set.contents().map(({ form, bytes }) => [form, bytes.length]),
      [['list', 400]],
    );
    for (let at = 0; at < count; at++) assert.equal(set.has(at), at % 100 === 0);
    set.add(1);
    for (let at = 0; at < 100; at++) assert.equal(set.has(at), at < 2);
    assert.equal(set.count, 201);
  });

  it('keeps nothing of blocks that are empty again', () => {
    const set = new OffsetSet();
    for (let at = 0; at < 3 * BLOCK_OFFSETS; at += 1000) set.add(at);
    assert.deepEqual(set.indexes(), [0, 1, 2]);
    for (let at = 0; at < 2 * BLOCK_OFFSETS; at += 1000) set.delete(at);
    assert.deepEqual(set.indexes(), [2]);
  });

  it('refuses blocks that are none', () => {
    const set = new OffsetSet();
    for (const bytes of [Buffer.alloc(8191), Buffer.alloc(8196), Buffer.alloc(0)])
      assert.throws(() => set.put({ index: 0, form: 'bits', bytes }), /damaged/);
    for (const bytes of [Buffer.alloc(3), Buffer.alloc(0)])
      assert.throws(() => set.put({ index: 0, form: 'list', bytes }), /damaged/);
    set.add(1);
    assert.throws(() => set.put({ index: 0, form: 'list', bytes: Buffer.alloc(2) }), /damaged/);
  });
});
