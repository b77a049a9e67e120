import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { emptyHeader, entryAt, readIndexHeader } from '../../../store/index/layout.js';
import { keyTextHash, topicHash } from '../../../store/index/key-hash.js';
import { SharedIndex } from '../../../store/index/shared-index.js';
import { IndexWorld, indexGolden } from '../../support/index-world.js';
import { LossyFiles } from '../../support/lossy-files.js';

const T0 = 1_700_000_000_000;
const onMemory = (slots?: number, entries?: number): IndexWorld =>
  new IndexWorld(new MemoryFiles(1 << 26), slots, entries);

/** Two keys whose hash with any prefix is the same: "Aa" and "BB". */
const equalHashes = ['Aa', 'BB'];

describe('index writer', () => {
  it('builds the files that 4.9.7 builds, byte for byte, over four rolls', () => {
    const { slots, entries, requests, files } = indexGolden();
    const world = onMemory(slots, entries);
    const writer = world.writer();
    for (const request of requests) world.add(writer, request);
    writer.writeBack();
    assert.equal(world.names().length, files.length);
    world.contents().forEach((bytes, index) => assert.equal(bytes.toString('base64'), files[index], `file ${index}`));
  });

  it('builds the same however often it writes, stops and starts in between', () => {
    const { slots, entries, requests, files } = indexGolden();
    const world = onMemory(slots, entries);
    let place = world.place;
    let writer = world.writer();
    requests.forEach((request, index) => {
      world.add(writer, request);
      if (index % 3 === 0) writer.flush();
      if (index % 5 !== 4) return;
      writer.writeBack();
      writer.close();
      place = world.restarted();
      writer = world.writer(place);
      // Again what is there: nothing is put twice.
      for (const old of requests.slice(Math.max(0, index - 3), index + 1)) world.add(writer, old);
    });
    writer.writeBack();
    world.contents().forEach((bytes, index) => assert.equal(bytes.toString('base64'), files[index], `file ${index}`));
  });

  it('goes on in a file of Java’s in the middle of it', () => {
    const { slots, entries, requests, files } = indexGolden();
    const last = Buffer.from(files.at(-1) ?? '', 'base64');
    const world = onMemory(slots, entries);
    const names = files.map((_, index) => `2023111422132000${index}`);
    files.forEach((file, index) => {
      world.files.replace(`${world.place.dir}/${names[index]}`, Buffer.from(file, 'base64'), false);
    });
    const writer = world.writer();
    for (const request of requests) world.add(writer, request);
    assert.equal(writer.dirty, false);
    const { next } = readIndexHeader(last);
    world.add(writer, { offset: 60_000, uniqKey: 'after', keys: 'same', storeTimestamp: T0 });
    writer.writeBack();
    const after = world.contents().at(-1) ?? Buffer.alloc(0);
    assert.equal(readIndexHeader(after).next, next + 2);
    const [from, to] = [entryAt(world.place.layout, 1), entryAt(world.place.layout, next)];
    assert.ok(after.subarray(from, to).equals(last.subarray(from, to)));
    assert.deepEqual(world.find({ key: 'after' }), [60_000]);
  });

  it('hashes as Java does: UTF-16 units, equal hashes, and 0 for the smallest int', () => {
    const prefix = topicHash('T');
    assert.equal(keyTextHash(prefix, 'Aa'), keyTextHash(prefix, 'BB'));
    // Golden: the key that IndexSamples made for T so that its hash is Integer.MIN_VALUE.
    const smallest = indexGolden().requests[27]?.keys ?? '';
    assert.equal(keyTextHash(prefix, smallest), 0);
    // "a#b".hashCode(): (97·31 + 35)·31 + 98; negative sums lose their sign.
    assert.equal(keyTextHash(topicHash('a'), 'b'), (97 * 31 + 35) * 31 + 98);
  });

  it('keeps both of two keys with one hash, and tells them apart when asked', () => {
    const world = onMemory(1, 40);
    const writer = world.writer();
    equalHashes.forEach((keys, index) => world.add(writer, { offset: index * 1000, keys }));
    writer.flush();
    assert.deepEqual(
      equalHashes.map((key) => world.find({ key })),
      [[0], [1000]],
    );
  });

  it('takes one slot and a file of one entry', () => {
    const world = onMemory(1, 2);
    const writer = world.writer();
    for (let index = 0; index < 5; index++) world.add(writer, { offset: index * 1000, keys: `k${index}` });
    writer.flush();
    assert.equal(world.names().length, 5);
    for (let index = 0; index < 5; index++) assert.deepEqual(world.find({ key: `k${index}` }), [index * 1000]);
  });

  it('names files in the order in which they are made, also when the clock stands still or goes back', () => {
    const world = onMemory(1, 2);
    const writer = world.writer();
    for (let index = 0; index < 4; index++) {
      world.add(writer, { offset: index * 1000, keys: `k${index}` });
      if (index === 2) world.wallMs -= 3_600_000;
    }
    const names = world.names();
    assert.equal(names.length, 4);
    assert.deepEqual(names, [...names].sort());
    for (const name of names) assert.match(name, /^2023\d{13}$/);
  });
});

describe('index writer on a disk that fails', () => {
  it('takes back what could not be written, and has all of it after another try', () => {
    const { slots, entries, requests, files } = indexGolden();
    const disk = new LossyFiles();
    const world = new IndexWorld(disk, slots, entries);
    const writer = world.writer();
    // Every third write of the index fails: of entries, slots or headers.
    let tries = 0;
    for (const request of requests) {
      for (;;) {
        if (tries++ % 3 === 0) disk.fail({ operation: 'write', path: '/index/', code: 'ENOSPC' });
        try {
          world.add(writer, request);
          writer.flush();
          break;
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
          writer.undo();
        }
      }
    }
    for (;;) {
      try {
        writer.writeBack();
        break;
      } catch {
        // Once more.
      }
    }
    assert.ok(tries > requests.length + 5, `${tries}`);
    world.contents().forEach((bytes, index) => assert.equal(bytes.toString('base64'), files[index], `file ${index}`));
  });

  it('shows nothing of a failed write', () => {
    const disk = new LossyFiles();
    const world = new IndexWorld(disk);
    const writer = world.writer();
    world.add(writer, { offset: 0, keys: 'k' });
    writer.flush();
    world.add(writer, { offset: 1000, keys: 'k other' });
    disk.fail({ operation: 'write', path: '/index/', code: 'EIO' });
    assert.throws(() => writer.flush(), /EIO/);
    writer.undo();
    assert.deepEqual(world.find({ key: 'k' }), [0]);
    assert.deepEqual(world.find({ key: 'other' }), []);
  });

  it('does not begin a file that cannot be made, and does when it can', () => {
    const disk = new LossyFiles();
    const world = new IndexWorld(disk, 4, 3);
    const writer = world.writer();
    world.add(writer, { offset: 0, keys: 'a b' });
    disk.fail({ operation: 'create', path: '.tmp', code: 'ENOSPC' });
    assert.throws(() => world.add(writer, { offset: 1000, keys: 'c' }), /ENOSPC/);
    writer.undo();
    assert.equal(world.names().length, 1);
    assert.deepEqual(world.find({ key: 'a' }), [0]);
    world.add(writer, { offset: 1000, keys: 'c' });
    writer.flush();
    assert.deepEqual([world.find({ key: 'b' }), world.find({ key: 'c' })], [[0], [1000]]);
  });

  // The first sync is that of the entries, before the checkpoint is lowered; the second that of slots and header.
  for (const nth of [1, 2])
    it(`is not believed any more after a failed sync (number ${nth})`, () => {
      const disk = new LossyFiles();
      const world = new IndexWorld(disk);
      const writer = world.writer();
      world.add(writer, { offset: 0, keys: 'k', storeTimestamp: T0 });
      disk.fail({ operation: 'sync', path: '/index/', code: 'EIO', nth });
      assert.throws(() => writer.writeBack(), /EIO/);
      writer.writeBack();
      assert.equal(writer.failed, true);
      assert.deepEqual([...new Set(world.vouched)], ['lower 0']);
      assert.deepEqual(world.find({ key: 'k' }), [0]);
    });
});

describe('index writer and the checkpoint', () => {
  it('lowers it to the full files before it overwrites, and raises it behind the sync', () => {
    const world = onMemory(4, 3);
    const writer = world.writer();
    world.add(writer, { offset: 0, keys: 'a', storeTimestamp: T0 });
    writer.writeBack();
    world.add(writer, { offset: 1000, keys: 'b', storeTimestamp: T0 + 10 });
    writer.writeBack();
    world.add(writer, { offset: 2000, keys: 'c', storeTimestamp: T0 + 20 });
    writer.writeBack();
    world.add(writer, { offset: 3000, keys: 'd', storeTimestamp: T0 + 30 });
    writer.writeBack();
    writer.writeBack();
    assert.deepEqual(world.vouched, [
      'lower 0',
      `raise ${T0}`,
      'lower 0',
      `raise ${T0 + 10}`,
      // The first file is full.
      `lower ${T0 + 10}`,
      `raise ${T0 + 20}`,
      `lower ${T0 + 10}`,
      `raise ${T0 + 30}`,
    ]);
  });

  it('never lets a file that is overwritten look believable when the clock went back', () => {
    const world = onMemory(4, 3);
    const writer = world.writer();
    world.add(writer, { offset: 0, keys: 'a b', storeTimestamp: T0 });
    world.add(writer, { offset: 1000, keys: 'c', storeTimestamp: T0 - 5000 });
    writer.writeBack();
    world.add(writer, { offset: 2000, keys: 'd', storeTimestamp: T0 - 4000 });
    writer.writeBack();
    assert.deepEqual(world.vouched.slice(2), [
      // Its header holds nothing or this time: less than it.
      `lower ${T0 - 5001}`,
      `raise ${T0}`,
      `lower ${T0 - 5001}`,
      `raise ${T0}`,
    ]);
  });
});

describe('index writer after a death of its thread', () => {
  it('goes on from what was published, although slots of more than that were set', () => {
    const world = onMemory(4, 40);
    const writer = world.writer();
    for (let index = 0; index < 6; index++) world.add(writer, { offset: index * 1000, keys: `same k${index}` });
    writer.flush();
    for (let index = 6; index < 9; index++) world.add(writer, { offset: index * 1000, keys: `same k${index}` });
    writer.close();
    const next = world.writer();
    assert.deepEqual(world.find({ key: 'same' }), [0, 1000, 2000, 3000, 4000, 5000]);
    for (let index = 5; index < 9; index++) world.add(next, { offset: index * 1000, keys: `same k${index}` });
    next.writeBack();
    assert.equal(world.find({ key: 'same' }).length, 9);
    const place = world.restarted();
    world.writer(place).close();
    assert.deepEqual(world.find({ key: 'k8' }, place), [8000]);
  });

  it('has a whole state at every moment', () => {
    const shared = new SharedIndex(SharedIndex.allocate(1).state);
    assert.deepEqual(shared.read(), { name: undefined, header: { ...emptyHeader(), next: 0 } });
    const header = { ...emptyHeader(), beginTimestamp: T0, endPhysical: 2 ** 40, next: 7 };
    shared.publish({ name: '20231114221320000', header });
    assert.deepEqual(shared.read(), { name: '20231114221320000', header });
    shared.publish({ name: undefined, header });
    assert.equal(shared.read().name, undefined);
  });
});
