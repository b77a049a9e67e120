import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import type { StoreFiles } from '../../../store/files/contract.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { LossyFiles, PowerCut } from '../../support/lossy-files.js';
import { tempDir } from '../../support/temp-dir.js';

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code;

interface Place {
  files: StoreFiles;
  root: string;
  done: () => void;
}

/** Making, reading, writing. */
function bytesTests(at: Place): void {
  it('makes a complete file of zeros under its final name, folders and all', async () => {
    const path = join(at.root, 'a/b/00000000000000000000');
    const file = at.files.createComplete(path, 10_000, join(at.root, '.tmp'));
    assert.equal(file.path, path);
    assert.equal(file.size(), 10_000);
    const bytes = Buffer.alloc(10_100, 1);
    assert.equal(file.read(bytes, 0, 10_100, 0), 10_000);
    assert.deepEqual(bytes.subarray(0, 10_000), Buffer.alloc(10_000));
    assert.equal(await file.readAsync(bytes, 5, 200, 9_900), 100);
    file.close();
    assert.deepEqual(at.files.list(join(at.root, 'a/b')), ['00000000000000000000']);
    assert.deepEqual(at.files.list(join(at.root, '.tmp')), []);
    assert.deepEqual(at.files.list(at.root), ['.tmp', 'a']);
  });

  it('refuses to make a complete file where one is', () => {
    const path = join(at.root, 'x');
    at.files.createComplete(path, 10, join(at.root, '.tmp')).close();
    assert.throws(() => at.files.createComplete(path, 20, join(at.root, '.tmp')), hasCode('EEXIST'));
    assert.equal(at.files.sizeOf(path), 10);
    assert.deepEqual(at.files.list(join(at.root, '.tmp')), []);
  });

  it('makes a file ahead and moves it in, over none that is there', () => {
    const [ahead, path] = [join(at.root, '.tmp/next'), join(at.root, 'log')];
    for (const touchBytes of [0, 4096]) {
      at.files.makeAhead(ahead, 10_000, touchBytes);
      const file = at.files.moveIn(ahead, path + touchBytes);
      assert.deepEqual([file.path, file.size()], [path + touchBytes, 10_000]);
      file.close();
      assert.deepEqual(at.files.readAll(path + touchBytes), Buffer.alloc(10_000));
      assert.deepEqual(at.files.list(join(at.root, '.tmp')), []);
    }
    at.files.makeAhead(ahead, 10, 0);
    assert.throws(() => at.files.moveIn(ahead, path + '0'), hasCode('EEXIST'));
    assert.throws(() => at.files.moveIn(join(at.root, 'none'), path), hasCode('ENOENT'));
  });

  it('reads what was written, at odd places and across pages', () => {
    const path = join(at.root, 'x');
    const file = at.files.createComplete(path, 300_000, join(at.root, '.tmp'));
    const data = Buffer.from(Array.from({ length: 140_000 }, (_, index) => index % 251));
    file.write(data, 3, data.length - 3, 65_530);
    const back = Buffer.alloc(data.length - 3);
    assert.equal(file.read(back, 0, back.length, 65_530), back.length);
    assert.ok(back.equals(data.subarray(3)));
    file.sync();
    file.close();
    const other = at.files.open(path, 'read');
    back.fill(0);
    other.read(back, 1, 10, 65_530);
    assert.ok(back.subarray(1, 11).equals(data.subarray(3, 13)));
    other.close();
  });

  it('reads zeros again after truncating and extending', () => {
    const file = at.files.createComplete(join(at.root, 'x'), 200_000, join(at.root, '.tmp'));
    file.write(Buffer.alloc(200_000, 7), 0, 200_000, 0);
    file.truncate(70_001);
    assert.equal(file.size(), 70_001);
    file.truncate(200_000);
    const back = Buffer.alloc(200_000);
    assert.equal(file.read(back, 0, 200_000, 0), 200_000);
    assert.ok(back.subarray(0, 70_001).equals(Buffer.alloc(70_001, 7)));
    assert.ok(back.subarray(70_001).equals(Buffer.alloc(129_999)));
    file.close();
  });
}

/** Replacing. */
function replaceTests(at: Place): void {
  it('replaces a file and keeps the content before as .bak', () => {
    const path = join(at.root, 'config/topics.json');
    at.files.replace(path, '{"a":1}', true);
    assert.deepEqual(at.files.list(join(at.root, 'config')), ['topics.json']);
    at.files.replace(path, '{"a":22}', true);
    at.files.replace(path, Buffer.from('{}'), true);
    assert.equal(at.files.readAll(path).toString(), '{}');
    assert.equal(at.files.readAll(`${path}.bak`).toString(), '{"a":22}');
    assert.deepEqual(at.files.list(join(at.root, 'config')), ['topics.json', 'topics.json.bak']);
  });

  it('does not replace a good backup by an empty file', () => {
    const path = join(at.root, 'f');
    at.files.replace(path, 'one', true);
    at.files.replace(path, 'two', true);
    at.files.replace(path, '', false);
    at.files.replace(path, 'three', true);
    assert.equal(at.files.readAll(`${path}.bak`).toString(), 'one');
  });
}

/** Names and folders. */
function nameTests(at: Place): void {
  it('says ENOENT for what is missing, an empty list for a missing folder', () => {
    const path = join(at.root, 'nothing');
    assert.throws(() => at.files.open(path, 'read'), hasCode('ENOENT'));
    assert.throws(() => at.files.readAll(path), hasCode('ENOENT'));
    assert.throws(() => at.files.sizeOf(path), hasCode('ENOENT'));
    assert.throws(() => at.files.remove(path), hasCode('ENOENT'));
    assert.deepEqual(at.files.list(path), []);
    assert.equal(at.files.exists(path), false);
    at.files.removeTree(path);
  });

  it('removes files and trees', () => {
    at.files.replace(join(at.root, 'd/e/f'), '1', false);
    at.files.replace(join(at.root, 'd/g'), '2', false);
    at.files.replace(join(at.root, 'h'), '3', false);
    at.files.remove(join(at.root, 'h'));
    at.files.removeTree(join(at.root, 'd'));
    assert.deepEqual(at.files.list(at.root), []);
    assert.equal(at.files.exists(join(at.root, 'd/e')), false);
  });

  it('keeps an open file readable after it was removed', () => {
    const path = join(at.root, 'x');
    at.files.replace(path, 'still here', false);
    const file = at.files.open(path, 'read');
    at.files.remove(path);
    const back = Buffer.alloc(10);
    assert.equal(file.read(back, 0, 10, 0), 10);
    assert.equal(back.toString(), 'still here');
    file.close();
  });
}

/** Every implementation behind the contract passes the same tests. */
function behavesAsStoreFiles(name: string, make: () => Place): void {
  describe(`StoreFiles: ${name}`, () => {
    const at = {} as Place;
    beforeEach(() => Object.assign(at, make()));
    afterEach(() => at.done());
    bytesTests(at);
    replaceTests(at);
    nameTests(at);
  });
}

behavesAsStoreFiles('node-files', () => {
  const dir = tempDir();
  return { files: nodeFiles, root: dir.path, done: () => dir[Symbol.dispose]() };
});
behavesAsStoreFiles('memory-files', () => {
  const files = new MemoryFiles(8 << 20);
  files.makeDir('/store');
  return { files, root: '/store', done: () => undefined };
});
behavesAsStoreFiles('lossy-files', () => {
  const files = new LossyFiles();
  files.makeDir('/store');
  return { files, root: '/store', done: () => undefined };
});

describe('node-files', () => {
  it('keeps the descriptor until an asynchronous read is done', async () => {
    using dir = tempDir();
    const path = join(dir.path, 'x');
    nodeFiles.replace(path, 'a'.repeat(1000), false);
    const file = nodeFiles.open(path, 'read');
    const target = Buffer.alloc(1000);
    const reading = file.readAsync(target, 0, 1000, 0);
    file.close();
    const others = Array.from({ length: 20 }, () => fs.openSync('/dev/null', 'r'));
    assert.equal(await reading, 1000);
    assert.equal(target.toString(), 'a'.repeat(1000));
    others.forEach((descriptor) => fs.closeSync(descriptor));
    assert.throws(() => file.size(), /after it was closed/);
    file.close();
  });

  it('names a folder that stands where a file should', () => {
    using dir = tempDir();
    assert.throws(() => nodeFiles.readAll(dir.path), { code: 'STORE_LAYOUT', message: /is a folder/ });
  });

  it('shows what one writes to another descriptor of the same file', () => {
    using dir = tempDir();
    const path = join(dir.path, 'x');
    const writer = nodeFiles.createComplete(path, 100, join(dir.path, '.tmp'));
    const reader = nodeFiles.open(path, 'read');
    writer.write(Buffer.from('abc'), 0, 3, 50);
    const back = Buffer.alloc(3);
    reader.read(back, 0, 3, 50);
    assert.equal(back.toString(), 'abc');
    assert.throws(() => reader.write(back, 0, 3, 0), hasCode('EBADF'));
    writer.close();
    reader.close();
  });
});

describe('memory-files', () => {
  it('ends at memoryStoreBytesMax with an ENOSPC that names it, and works again when something is removed', () => {
    const files = new MemoryFiles(4 * 65_536);
    const file = files.createComplete('/s/log', 1 << 30, '/s/.tmp');
    assert.equal(files.bytesUsed, 0);
    file.write(Buffer.alloc(4 * 65_536, 1), 0, 4 * 65_536, 0);
    assert.throws(
      () => file.write(Buffer.alloc(1), 0, 1, 10 * 65_536),
      (error: Error) => hasCode('ENOSPC')(error) && /memoryStoreBytesMax is 262144/.test(error.message),
    );
    file.truncate(65_537);
    assert.equal(files.bytesUsed, 2 * 65_536);
    file.truncate(1 << 30);
    file.write(Buffer.alloc(1), 0, 1, 10 * 65_536);
    files.remove('/s/log');
    assert.equal(files.bytesUsed, 0);
    file.truncate(0);
    assert.equal(files.bytesUsed, 0);
  });

  it('counts a replaced file once', () => {
    const files = new MemoryFiles(1 << 20);
    files.replace('/s/a', 'one', false);
    files.replace('/s/a', 'two', false);
    assert.equal(files.bytesUsed, 65_536);
    files.removeTree('/s');
    assert.equal(files.bytesUsed, 0);
  });
});

describe('ordered-files', () => {
  it('makes a complete file beside its place when the temporary folder is on another file system', () => {
    const files = new LossyFiles();
    files.fail({ operation: 'rename', nth: 1, code: 'EXDEV' });
    const file = files.createComplete('/log/00000000000000000000', 4096, '/other/.tmp');
    assert.equal(file.size(), 4096);
    assert.deepEqual(files.list('/log'), ['00000000000000000000']);
    assert.deepEqual(files.list('/other/.tmp'), []);
  });

  it('leaves nothing behind when a file cannot be made', () => {
    for (const operation of ['create', 'truncate', 'sync', 'rename'] as const) {
      const files = new LossyFiles();
      files.makeDir('/log');
      files.makeDir('/.tmp');
      files.fail({ operation, code: 'EIO' });
      assert.throws(() => files.createComplete('/log/0', 4096, '/.tmp'), hasCode('EIO'));
      assert.deepEqual(files.list('/log'), []);
      assert.deepEqual(files.list('/.tmp'), []);
    }
  });

  for (const loss of ['random', 'everything', 'nothing'] as const) {
    it(`never loses both contents of a replaced file, wherever the power is cut (lost: ${loss})`, () => {
      for (let operation = 1, finished = false; !finished; operation += 1) {
        const files = new LossyFiles();
        files.replace('/config/f.json', 'first', true);
        files.replace('/config/f.json', 'second', true);
        files.cutAt(files.operations + operation);
        try {
          files.replace('/config/f.json', 'third', true);
          finished = true;
        } catch (error) {
          assert.ok(error instanceof PowerCut);
        }
        const after = files.restart(loss);
        const main = after.readAll('/config/f.json').toString();
        const backup = after.readAll('/config/f.json.bak').toString();
        assert.ok(finished ? main === 'third' : ['second', 'third'].includes(main), `operation ${operation}: ${main}`);
        assert.ok(['first', 'second'].includes(backup), `operation ${operation}: ${backup}`);
      }
    });
  }
});
