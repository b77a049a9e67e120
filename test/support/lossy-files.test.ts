import assert from 'node:assert/strict';
import { LossyFiles, PowerCut } from './lossy-files.js';
import { SeededRandom } from './seeded-random.js';

const page = (byte: number): Buffer => Buffer.alloc(4096, byte);
const bytesAt = (files: LossyFiles, path: string, position: number): Buffer =>
  files.readAll(path).subarray(position, position + 4096);

/** A file of 4 pages, complete and synced, the first page written and synced as well. */
function prepared(seed = 1): LossyFiles {
  const files = new LossyFiles(new SeededRandom(seed));
  const file = files.createComplete('/log/a', 4 * 4096, '/.tmp');
  file.write(page(1), 0, 4096, 0);
  file.sync();
  return files;
}

describe('the lossy disk', () => {
  it('keeps what was synced, loses what was not', () => {
    const files = prepared();
    const file = files.open('/log/a', 'readWrite');
    file.write(page(2), 0, 4096, 0);
    file.write(page(3), 0, 4096, 4096);
    const after = files.restart('everything');
    assert.ok(bytesAt(after, '/log/a', 0).equals(page(1)));
    assert.ok(bytesAt(after, '/log/a', 4096).equals(page(0)));
    assert.throws(() => file.read(page(0), 0, 10, 0), PowerCut);
  });

  it('keeps everything when only the process is killed, and loses it at a power cut after that', () => {
    const files = prepared();
    files.open('/log/a', 'readWrite').write(page(2), 0, 4096, 4096);
    files.cutAt(files.operations + 4);
    assert.throws(() => files.replace('/log/b', 'new', false), PowerCut);
    const next = files.killed();
    assert.ok(bytesAt(next, '/log/a', 4096).equals(page(2)));
    assert.deepEqual(next.list('/log'), ['a', 'b.tmp']);
    const after = next.restart('everything');
    assert.ok(bytesAt(after, '/log/a', 4096).equals(page(0)));
    assert.deepEqual(after.list('/log'), ['a']);
  });

  it('may keep a later page and lose an earlier one, or write one in part', () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 200; seed += 1) {
      const files = prepared(seed);
      const file = files.open('/log/a', 'readWrite');
      file.write(page(2), 0, 4096, 4096);
      file.write(page(3), 0, 4096, 8192);
      const after = files.restart('random');
      const kind = (position: number, byte: number): string => {
        const bytes = bytesAt(after, '/log/a', position);
        if (bytes.equals(page(byte))) return 'kept';
        return bytes.equals(page(0)) ? 'lost' : 'torn';
      };
      seen.add(`${kind(4096, 2)} ${kind(8192, 3)}`);
    }
    assert.equal(seen.size, 9, [...seen].join(', '));
  });

  it('rolls back names whose folder was not synced, the last one first', () => {
    const ends = new Set<string>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const files = prepared(seed);
      files.cutAt(files.operations + 4);
      assert.throws(() => files.replace('/log/b', 'new', false), PowerCut);
      const after = files.restart('random');
      ends.add(after.list('/log').join(' '));
    }
    // create, write, sync, then the rename is cut: it never happens.
    assert.deepEqual([...ends].sort(), ['a', 'a b.tmp']);
    const renamed = prepared();
    renamed.cutAt(renamed.operations + 5);
    assert.throws(() => renamed.replace('/log/b', 'new', false), PowerCut);
    assert.deepEqual(renamed.restart('everything').list('/log'), ['a']);
    const kept = prepared();
    kept.cutAt(kept.operations + 5);
    assert.throws(() => kept.replace('/log/b', 'new', false), PowerCut);
    assert.deepEqual(kept.restart('nothing').list('/log'), ['a', 'b']);
  });

  it('rolls back a removal that was not synced', () => {
    const files = prepared();
    files.cutAt(files.operations + 2);
    assert.throws(() => files.remove('/log/a'), PowerCut);
    assert.deepEqual(files.restart('everything').list('/log'), ['a']);
  });

  it('may shorten a file that was truncated and extended without a sync', () => {
    const sizes = new Set<number>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const files = prepared(seed);
      const file = files.open('/log/a', 'readWrite');
      file.truncate(100);
      file.truncate(4 * 4096);
      sizes.add(files.restart('random').sizeOf('/log/a'));
    }
    assert.deepEqual(
      [...sizes].sort((a, b) => a - b),
      [100, 16_384],
    );
  });

  it('cuts at the chosen operation, in the middle of a write', () => {
    const written = new Set<number>();
    for (let seed = 1; seed <= 30; seed += 1) {
      const files = prepared(seed);
      const file = files.open('/log/a', 'readWrite');
      files.cutAt(files.operations + 2);
      file.write(page(5), 0, 4096, 4096);
      assert.throws(() => file.write(page(6), 0, 4096, 8192), PowerCut);
      assert.throws(() => files.exists('/log/a'), PowerCut);
      const bytes = bytesAt(files.restart('nothing'), '/log/a', 8192);
      written.add(bytes.indexOf(0) < 0 ? 4096 : bytes.indexOf(0));
    }
    assert.ok(written.size > 10);
  });

  it('fails the n-th call with a code, and drops the pages of a failed sync for good', () => {
    const files = prepared();
    files.fail({ operation: 'sync', path: '/log/a', nth: 2, code: 'EIO' });
    const file = files.open('/log/a', 'readWrite');
    file.write(page(2), 0, 4096, 4096);
    file.sync();
    file.write(page(3), 0, 4096, 8192);
    assert.throws(() => file.sync(), { code: 'EIO' });
    file.sync();
    const back = page(0);
    file.read(back, 0, 4096, 8192);
    assert.ok(back.equals(page(3)), 'still readable from memory');
    const after = files.restart('nothing');
    assert.ok(bytesAt(after, '/log/a', 4096).equals(page(2)));
    assert.ok(bytesAt(after, '/log/a', 8192).equals(page(0)));
  });

  it('fails for ever when told so', () => {
    const files = prepared();
    files.fail({ operation: 'write', nth: 2, code: 'ENOSPC', forever: true });
    const file = files.open('/log/a', 'readWrite');
    file.write(page(2), 0, 10, 0);
    for (let count = 0; count < 3; count += 1) assert.throws(() => file.write(page(2), 0, 10, 0), { code: 'ENOSPC' });
  });

  it('does the same again with the same seed', () => {
    const run = (seed: number): Buffer => {
      const files = prepared(seed);
      const file = files.open('/log/a', 'readWrite');
      for (let index = 0; index < 4; index += 1) file.write(page(index + 1), 0, 4096, index * 4096);
      return files.restart('random').readAll('/log/a');
    };
    assert.ok(run(7).equals(run(7)));
    assert.ok(Array.from({ length: 10 }, (_, seed) => seed).some((seed) => !run(seed).equals(run(7))));
  });
});
