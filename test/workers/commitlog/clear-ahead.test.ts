import assert from 'node:assert/strict';
import { SlotStatus } from '../../../kernel/ring/slots.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import type { StoreFile } from '../../../store/files/contract.js';
import { LogServices } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

const BLOCK = 1024;
const SEGMENT = 8192;
/** A record of topic T without properties. */
const FIXED = 92;

/** Notes the writes to the log: where, how many bytes, and whether they were all zeros. */
class NotingFiles extends LossyFiles {
  readonly writes: [at: number, bytes: number, blank: boolean][] = [];

  override open(path: string, mode: 'read' | 'readWrite'): StoreFile {
    return this.#noting(path, super.open(path, mode));
  }

  #noting(path: string, file: StoreFile): StoreFile {
    if (!path.includes('commitlog')) return file;
    const write = file.write.bind(file);
    file.write = (source, start, length, position) => {
      this.writes.push([position, length, source.subarray(start, start + length).every((byte) => byte === 0)]);
      write(source, start, length, position);
    };
    return file;
  }
}

function world(clearAheadBytes = BLOCK): { store: LogServices; disk: NotingFiles; put: (bytes: number) => SlotStatus } {
  const disk = new NotingFiles();
  const store = new LogServices({ files: disk, segmentBytes: SEGMENT, clearAheadBytes });
  let appender = store.appender();
  // The first life makes the segment; the one after it opens it, and its writes are noted.
  store.put({ body: Buffer.alloc(100 - FIXED, 1) });
  store.append(appender);
  appender = store.appender();
  disk.writes.length = 0;
  const put = (bytes: number): SlotStatus => {
    store.put({ body: Buffer.alloc(bytes - FIXED, 1) });
    return store.append(appender)[0].status;
  };
  return { store, disk, put };
}

describe('zeros ahead of the log', () => {
  it('are written once a block, behind what is there, and never beyond the segment', () => {
    const { store, disk, put } = world();
    for (const bytes of [200, 300, 424, 300, 2500, 2000]) put(bytes);
    assert.deepEqual(disk.writes, [
      [100, 924, true],
      [100, 200, false],
      [300, 300, false],
      [600, 424, false],
      [1024, 1024, true],
      [1024, 300, false],
      // Fills a whole block, which needs no zeros.
      [3072, 1024, true],
      [1324, 2500, false],
      [5120, 1024, true],
      [3824, 2000, false],
    ]);
    disk.writes.length = 0;
    put(2200);
    assert.deepEqual(disk.writes[0], [7168, 1024, true]);
    store.close();
  });

  it('change nothing that can be read', () => {
    const [plain, cleared] = [world(0), world(BLOCK)];
    for (const bytes of [200, 1500, 3000, 900, 2500, 4000]) for (const { put } of [plain, cleared]) put(bytes);
    const end = plain.store.mark(Watermark.appended);
    assert.equal(cleared.store.mark(Watermark.appended), end);
    assert.deepEqual(cleared.store.logBytes(0, end), plain.store.logBytes(0, end));
    const rest = cleared.store.logBytes(end, 2 * SEGMENT);
    assert.ok(rest.every((byte) => byte === 0));
    for (const { store } of [plain, cleared]) store.close();
  });

  for (const code of ['ENOSPC', 'EDQUOT', 'EIO'])
    it(`refuse nothing when they cannot be written (${code}): the record's own write tells`, () => {
      const { store, disk, put } = world();
      disk.fail({ operation: 'write', path: 'commitlog', code });
      assert.equal(put(200), SlotStatus.stored);
      assert.deepEqual(
        disk.writes.map(([at, , blank]) => [at, blank]),
        [
          [100, true],
          [100, false],
        ],
      );
      store.close();
    });
});
