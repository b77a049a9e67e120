import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { OpenFiles } from '../../../store/files/open-files.js';
import type { StoreFile } from '../../../store/files/contract.js';

class CountingFiles extends MemoryFiles {
  readonly closed: string[] = [];
  opened = 0;

  override open(path: string, mode: 'read' | 'readWrite'): StoreFile {
    const file = super.open(path, mode);
    this.opened += 1;
    file.close = () => void this.closed.push(path);
    return file;
  }
}

describe('OpenFiles', () => {
  const make = (): CountingFiles => {
    const files = new CountingFiles(1 << 24);
    for (const name of ['a', 'b', 'c', 'd/e', 'd/f', 'dd']) files.replace(`/s/${name}`, name, false);
    return files;
  };

  it('closes the one unused for longest', () => {
    const files = make();
    const open = new OpenFiles(files, 'read', 2);
    const a = open.get('/s/a');
    open.get('/s/b');
    assert.equal(open.get('/s/a'), a);
    open.get('/s/c');
    assert.deepEqual(files.closed, ['/s/b']);
    assert.equal(open.count, 2);
    assert.equal(open.get('/s/a'), a);
    assert.equal(files.opened, 3);
    open.closeAll();
    assert.deepEqual(files.closed.sort(), ['/s/a', '/s/b', '/s/c']);
  });

  it('closes what lies under a folder and nothing beside it', () => {
    const files = make();
    const open = new OpenFiles(files, 'read', 10);
    for (const name of ['a', 'd/e', 'd/f', 'dd']) open.get(`/s/${name}`);
    open.closeUnder('/s/d/');
    assert.deepEqual(files.closed.sort(), ['/s/d/e', '/s/d/f']);
    assert.equal(open.count, 2);
  });

  it('keeps nothing of a file that is missing', () => {
    const open = new OpenFiles(make(), 'read', 10);
    assert.throws(() => open.get('/s/none'), { code: 'ENOENT' });
    assert.equal(open.count, 0);
  });
});
