import assert from 'node:assert/strict';
import { Segments } from '../../../store/commitlog/segments.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { indexHeaderBytes, indexLayout } from '../../../store/index/layout.js';
import { readHeaderOf } from '../../../store/index/index-folder.js';
import { checkIndex, type IndexCheck, type IndexFound } from '../../../store/index/recover-index.js';
import { IndexWorld } from '../../support/index-world.js';

const T0 = 1_700_000_000_000;
const KEYS = 10;

/** Three files of four entries; the last one has two. */
function threeFiles(): IndexWorld {
  const world = new IndexWorld(new MemoryFiles(1 << 26), 4, 5);
  const writer = world.writer();
  for (let index = 0; index < KEYS; index++) {
    world.wallMs += 1000;
    world.add(writer, { offset: index * 1000, keys: `k${index}`, storeTimestamp: T0 + index });
  }
  writer.writeBack();
  writer.close();
  return world;
}

function check(world: IndexWorld, changes: Partial<IndexCheck> = {}): IndexFound {
  const { dir, layout, logDir, temporaryDir, segmentBytes } = world.place;
  const segments = new Segments(world.files, logDir, temporaryDir, segmentBytes);
  segments.open('read');
  const base = { files: world.files, dir, layout, normalExit: true, checkpointMs: T0 + KEYS, segments };
  return checkIndex({ ...base, validEnd: world.logEnd, ...changes });
}

function spoil(world: IndexWorld, file: number, change: (path: string) => void): void {
  change(`${world.place.dir}/${world.names()[file] ?? ''}`);
}

const keptOf = (world: IndexWorld, found: IndexFound): number => world.names().length - found.doubtful.length;

describe('recovery of the index', () => {
  it('goes on at the last record of the last file, and vouches for its time', () => {
    const world = threeFiles();
    assert.equal(world.names().length, 3);
    assert.deepEqual(check(world), { from: 9000, doubtful: [], keptMs: T0 + 9, notes: [] });
  });

  it('does not believe after a crash what is newer than the checkpoint says', () => {
    const world = threeFiles();
    const kept = [T0 + 9, T0 + 8, T0 + 7, T0 + 6, T0 + 3, T0].map((checkpointMs) => {
      const found = check(world, { normalExit: false, checkpointMs });
      return [keptOf(world, found), found.from];
    });
    assert.deepEqual(kept, [
      [3, 9000],
      [2, 7000],
      [2, 7000],
      [1, 3000],
      [1, 3000],
      [0, 0],
    ]);
  });

  const damages: Readonly<Record<string, (world: IndexWorld, path: string) => void>> = {
    'is cut short': (world, path) => world.files.replace(path, Buffer.alloc(100), false),
    'is empty': (world, path) => world.files.replace(path, '', false),
    'has a header of zeros': (world, path) => header(world, path, 'next', 0),
    'counts more than fits': (world, path) => header(world, path, 'next', 6),
    'ends before it begins': (world, path) => header(world, path, 'beginPhysical', 8000),
    'has a negative offset': (world, path) => header(world, path, 'endPhysical', -1),
    'ends where no record is': (world, path) => header(world, path, 'endPhysical', 7001),
    'ends behind the log': (world, path) => header(world, path, 'endPhysical', 50_000),
    'is not full, though another follows': (world, path) => header(world, path, 'next', 4),
  };

  function header(world: IndexWorld, path: string, field: 'next' | 'beginPhysical' | 'endPhysical', value: number) {
    const changed = { ...readHeaderOf(world.files, path), [field]: value };
    const file = world.files.open(path, 'readWrite');
    file.write(indexHeaderBytes(changed), 0, 40, 0);
    file.close();
  }

  for (const [what, damage] of Object.entries(damages))
    it(`builds again a file that ${what}, and all after it`, () => {
      const world = threeFiles();
      spoil(world, 1, (path) => damage(world, path));
      const found = check(world);
      // A file that is not full is one that nothing may follow.
      const kept = what.startsWith('is not full') ? 2 : 1;
      assert.deepEqual([keptOf(world, found), found.from], [kept, kept === 2 ? 7000 : 3000], found.notes.join());
    });

  it('builds all again when the sizes were set to others', () => {
    const world = threeFiles();
    const found = check(world, { layout: indexLayout(4, 6) });
    assert.deepEqual([found.doubtful.length, found.from], [3, 0]);
    assert.match(found.notes.join(), /has 156 bytes/);
  });

  it('does not trust files that say more than the log has', () => {
    const world = threeFiles();
    assert.deepEqual(
      [9000, 8500, 7500, 500].map((validEnd) => keptOf(world, check(world, { validEnd }))),
      [2, 2, 2, 0],
    );
  });

  it('needs no record that retention deleted', () => {
    const world = threeFiles();
    const { logDir, segmentBytes } = world.place;
    const segment = `${logDir}/${String(segmentBytes).padStart(20, '0')}`;
    world.files.replace(segment, Buffer.alloc(segmentBytes), false);
    world.files.remove(`${logDir}/${'0'.repeat(20)}`);
    const found = check(world, { validEnd: segmentBytes + 92 });
    assert.deepEqual([found.doubtful.length, found.from], [0, segmentBytes]);
  });

  it('builds all when the folder or its files are missing, but not when nothing had a key', () => {
    const world = new IndexWorld(new MemoryFiles(1 << 26));
    world.add(world.writer(), { offset: 0, keys: '' });
    const from = (changes: Partial<IndexCheck>): number => check(world, changes).from;
    assert.equal(from({ checkpointMs: 0 }), 1000);
    assert.equal(from({ checkpointMs: T0 }), 0);
    assert.equal(from({ checkpointMs: 0, normalExit: false }), 0);
    assert.equal(from({ checkpointMs: 0, dir: '/nowhere' }), 0);
  });

  it('leaves files of other names alone, and says so', () => {
    const world = threeFiles();
    world.files.replace(`${world.place.dir}/notes.txt`, 'x', false);
    const found = check(world);
    assert.deepEqual(found.doubtful, []);
    assert.match(found.notes.join(), /notes\.txt/);
  });
});
