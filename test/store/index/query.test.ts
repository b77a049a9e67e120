import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { expireIndex } from '../../../store/index/index-folder.js';
import { emptyHeader } from '../../../store/index/layout.js';
import { SharedIndex } from '../../../store/index/shared-index.js';
import { Slots } from '../../../store/index/slots.js';
import { type IndexedRecord, IndexWorld, indexGolden } from '../../support/index-world.js';

const T0 = 1_700_000_000_000;
const LONG_MAX = Number(2n ** 63n - 1n);

function worldOf(records: readonly IndexedRecord[], slots = 16, entries = 40): IndexWorld {
  const world = new IndexWorld(new MemoryFiles(1 << 26), slots, entries);
  const writer = world.writer();
  for (const record of records) world.add(writer, record);
  writer.flush();
  return world;
}

/** Each record once, in the log's order. */
const once = (offsets: readonly number[]): number[] => [...new Set(offsets)].sort((a, b) => a - b);

describe('index query', () => {
  it('finds what 4.9.7 finds in the golden files, each message once and none with another key', () => {
    const { slots, entries, requests, queries } = indexGolden();
    const world = worldOf(requests, slots, entries);
    let compared = 0;
    for (const { topic, key, maxNum, begin, end, offsets } of queries) {
      const [beginMs, endMs] = [Number(begin), Number(end)];
      // Times that entries tell in whole seconds are compared below.
      if (beginMs > 0 || endMs < LONG_MAX) continue;
      const found = world.find({ topic, key, maxNum: Math.min(maxNum, 64), beginMs, endMs });
      assert.deepEqual(found, once(offsets), `${topic} ${key} ${maxNum}`);
      compared++;
    }
    assert.ok(compared > 30);
  });

  it('finds by real store times what 4.9.7 finds by whole seconds, and what it misses', () => {
    const { slots, entries, requests, queries } = indexGolden();
    const world = worldOf(requests, slots, entries);
    const unlike: string[] = [];
    for (const { topic, key, begin, end, offsets } of queries) {
      const [beginMs, endMs] = [Number(begin), Number(end)];
      if (beginMs <= 0 && endMs >= LONG_MAX) continue;
      const expected = requests
        .filter((one) => one.topic === topic && one.keys.split(' ').includes(key))
        .filter((one) => one.storeTimestamp >= beginMs && one.storeTimestamp <= endMs)
        .map(({ offset }) => offset);
      const found = world.find({ topic, key, beginMs, endMs });
      assert.deepEqual(found, expected, `${begin} ${end}`);
      const [java, ours] = [once(offsets), new Set(found)];
      if (java.length !== ours.size || !java.every((offset) => ours.has(offset)))
        unlike.push(`${beginMs - T0} ${endMs >= LONG_MAX ? '' : endMs - T0}`);
    }
    // What 4.9.7 itself answers unlike the real times: see B29. Seconds and the clock that went back.
    assert.ok(unlike.length > 0, 'the golden queries show the difference');
  });

  it('B29: index times are whole seconds, queries are not', () => {
    const clockWentBack = T0 + 1900 - 3_600_000;
    for (const second of [T0 + 1900, clockWentBack]) {
      const world = worldOf([
        { offset: 0, keys: 'first', storeTimestamp: T0 },
        { offset: 1000, keys: 'K', storeTimestamp: second },
      ]);
      const within = (beginMs: number, endMs = LONG_MAX): number[] => world.find({ key: 'K', beginMs, endMs });
      assert.deepEqual(within(second, second + 10_000), [1000], 'from its own millisecond on');
      assert.deepEqual(within(second - 900), [1000], 'from its second on');
      assert.deepEqual(within(second + 100), [], 'from later on');
      assert.deepEqual(within(0, second), [1000], 'up to its own millisecond');
      assert.deepEqual(within(0, second - 1), [], 'up to the one before');
      assert.deepEqual(within(0, LONG_MAX), [1000], 'at any time');
      assert.deepEqual(within(-LONG_MAX, LONG_MAX), [1000], 'at any 64-bit time');
    }
  });

  it('finds messages from before the clock was set back by a day, and after it was set on by one', () => {
    const day = 86_400_000;
    const world = worldOf(
      [
        { offset: 0, keys: 'a K', storeTimestamp: T0 },
        { offset: 1000, keys: 'b K', storeTimestamp: T0 + day },
        { offset: 2000, keys: 'c K', storeTimestamp: T0 + 1000 },
        { offset: 3000, keys: 'd K', storeTimestamp: T0 + 2000 },
      ],
      4,
      4,
    );
    assert.ok(world.names().length > 1);
    assert.deepEqual(world.find({ key: 'K', beginMs: T0 + day, endMs: T0 + day }), [1000]);
    assert.deepEqual(world.find({ key: 'K', beginMs: T0, endMs: T0 + 2000 }), [0, 2000, 3000]);
  });

  it('takes the newest when there are more than asked for', () => {
    const world = worldOf(
      Array.from({ length: 50 }, (_, index) => ({ offset: index * 1000, keys: 'K' })),
      4,
      9,
    );
    assert.deepEqual(world.find({ key: 'K', maxNum: 3 }), [47_000, 48_000, 49_000]);
    assert.equal(world.find({ key: 'K', maxNum: 1000 }).length, 50);
    for (const maxNum of [0, -1]) assert.deepEqual(world.find({ key: 'K', maxNum }), []);
  });

  it('does not find what the log no longer has, and needs no file that is expired', () => {
    const records = Array.from({ length: 20 }, (_, index) => ({ offset: index * 1000, keys: `K k${index}` }));
    const world = worldOf(records, 4, 9);
    world.logMin = 10_000;
    assert.deepEqual(
      world.find({ key: 'K' }),
      records.slice(10).map(({ offset }) => offset),
    );
    assert.deepEqual(world.find({ key: 'k9' }), []);
    const before = world.names();
    // Four records a file: the first two end below 10,000.
    assert.deepEqual(expireIndex(world.files, world.place.dir, 10_000), before.slice(0, 2));
    assert.deepEqual(world.find({ key: 'k10' }), [10_000]);
    assert.deepEqual(expireIndex(world.files, world.place.dir, 1_000_000), before.slice(2, -1), 'never the last');
    assert.deepEqual(expireIndex(world.files, '/nowhere', 1), []);
  });

  it('tells the last record of the index', () => {
    const world = worldOf([
      { offset: 0, keys: 'a', storeTimestamp: T0 },
      { offset: 1000, keys: 'b', storeTimestamp: T0 + 7 },
    ]);
    assert.deepEqual(world.last(), { lastTimestamp: T0 + 7, lastPhysical: 1000 });
  });

  it('does not follow an entry that is not written yet, and says when that does not end', () => {
    const world = worldOf([{ offset: 0, keys: 'K' }], 1, 40);
    new Slots(world.place.memory.slots).set(0, 2);
    assert.throws(() => world.find({ key: 'K', patienceMs: 0 }), { code: 'INDEX_BUSY' });
  });

  it('passes over a file that disappears, and entries that lead nowhere', () => {
    const world = worldOf([{ offset: 0, keys: 'K' }], 1, 40);
    world.writer().writeBack();
    const shared = new SharedIndex(world.place.memory.state);
    shared.publish({ name: '20991231235959999', header: { ...emptyHeader(), next: 9 } });
    assert.deepEqual(world.find({ key: 'K' }), [0], 'from the file itself, as far as that says');
  });
});
