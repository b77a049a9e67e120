import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { LogServices, runToRest, STORE } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

const EXT_DIR = `${STORE}/consumequeue_ext`;
const ext = { ext: { dir: EXT_DIR, fileBytes: 128, enabled: true } };

/** Forty messages in three queues, with and without tags. */
function filled(disk: LossyFiles): LogServices {
  const store = new LogServices({ files: disk, segmentBytes: 1 << 20, queueFileBytes: 100 });
  const appender = store.appender();
  for (let i = 0; i < 40; i++) store.put({ queueId: i % 3, properties: i % 2 === 0 ? `TAGS\u0001t${i}` : '' });
  store.append(appender);
  return store;
}

/** All queue files and ext files, in hex, by path. */
function filesOf(disk: LossyFiles, store: LogServices): Record<string, string> {
  const found: Record<string, string> = {};
  for (const root of [store.queueDir, EXT_DIR])
    for (const queueId of disk.list(`${root}/T`))
      for (const name of disk.list(`${root}/T/${queueId}`)) {
        const path = `${root}/T/${queueId}/${name}`;
        found[path] = disk.readAll(path).toString('hex');
      }
  return found;
}

describe('dispatcher with ext units', () => {
  const good = new LossyFiles();
  const goodStore = filled(good);
  runToRest(goodStore.dispatcher(ext));
  const expected = filesOf(good, goodStore);

  it('writes with one call per file and chunk, not one per message', () => {
    const paths = Object.keys(expected);
    assert.equal(paths.filter((path) => path.startsWith(`${EXT_DIR}/T/1/`)).length, 3, 'thirteen messages');
    const disk = new LossyFiles();
    const store = filled(disk);
    runToRest(store.dispatcher(ext));
    const before = disk.operations;
    store.watermarks.reset(Watermark.dispatched, 0);
    runToRest(store.dispatcher(ext));
    assert.equal(disk.operations - before, paths.length);
    assert.deepEqual(filesOf(disk, store), expected);
  });

  it('leaves the same files whichever write fails once', () => {
    for (let nth = 1; nth <= 18; nth++) {
      const disk = new LossyFiles();
      const store = filled(disk);
      disk.fail({ operation: 'write', path: 'consumequeue', nth, code: 'ENOSPC' });
      const dispatcher = store.dispatcher(ext);
      dispatcher.step();
      assert.ok(store.mark(Watermark.dispatched) < store.mark(Watermark.appended), `write ${nth} failed`);
      runToRest(dispatcher);
      assert.deepEqual(filesOf(disk, store), expected, `write ${nth}`);
    }
  });

  it('leaves the same files when a life dies at any write and the next one goes on', () => {
    for (let nth = 1; nth <= 18; nth++) {
      const disk = new LossyFiles();
      const store = filled(disk);
      disk.fail({ operation: 'write', path: 'consumequeue', nth, code: 'ENOSPC' });
      store.dispatcher(ext).step();
      runToRest(store.dispatcher(ext));
      assert.deepEqual(filesOf(disk, store), expected, `write ${nth}`);
    }
  });

  it('writes none while they are off', () => {
    const disk = new LossyFiles();
    const store = filled(disk);
    runToRest(store.dispatcher());
    assert.equal(disk.exists(EXT_DIR), false);
  });
});
