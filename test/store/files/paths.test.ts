import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { clearTemporary, parseSegmentName, segmentName, storePaths } from '../../../store/files/paths.js';

describe('store paths', () => {
  it('are those of 4.9', () => {
    const paths = storePaths('/data/store');
    assert.deepEqual(paths, {
      root: '/data/store',
      commitLog: '/data/store/commitlog',
      consumeQueue: '/data/store/consumequeue',
      consumeQueueExt: '/data/store/consumequeue_ext',
      index: '/data/store/index',
      config: '/data/store/config',
      checkpoint: '/data/store/checkpoint',
      abort: '/data/store/abort',
      lock: '/data/store/lock',
      temporary: '/data/store/.tmp',
    });
    assert.equal(storePaths('/data/store', '/ssd/log').commitLog, '/ssd/log');
    assert.equal(storePaths('/data/store', '').commitLog, '/data/store/commitlog');
  });

  it('name segments by their offset in 20 digits', () => {
    assert.equal(segmentName(0), '00000000000000000000');
    assert.equal(segmentName(1_073_741_824), '00000000001073741824');
    assert.equal(parseSegmentName('00000000001073741824'), 1_073_741_824);
    for (const name of [
      '0',
      '0000000000107374182',
      'x0000000001073741824',
      '99999999999999999999',
      '.00000000000000000000',
    ])
      assert.equal(parseSegmentName(name), -1);
    assert.throws(() => segmentName(-1));
    assert.throws(() => segmentName(1.5));
  });

  it('clear what is under construction, but no marks for recovery', () => {
    const files = new MemoryFiles(1 << 20);
    for (const name of ['00000000000000000000.1-0-1', 'cut-00000000000000004096'])
      files.replace(`/s/.tmp/${name}`, '', false);
    clearTemporary(files, '/s/.tmp');
    assert.deepEqual(files.list('/s/.tmp'), ['cut-00000000000000004096']);
    clearTemporary(files, '/s/none');
  });
});
