import assert from 'node:assert/strict';
import { roomFor, writeFiller } from '../../../store/commitlog/filler.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { LossyFiles } from '../../support/lossy-files.js';

const SIZE = 1000;
const names = (...bases: number[]): string[] => bases.map((base) => String(base).padStart(20, '0'));
const make = (files = new MemoryFiles(1 << 24)): Segments => new Segments(files, '/s/commitlog', '/s/.tmp', SIZE);

describe('Segments', () => {
  it('begins empty and grows by complete files', () => {
    const segments = make();
    segments.open();
    assert.deepEqual([segments.minOffset, segments.endOffset, segments.count], [0, 0, 0]);
    assert.equal(segments.ensure(0).size(), SIZE);
    assert.equal(segments.ensure(999), segments.ensure(0));
    segments.ensure(1000);
    assert.deepEqual(segments.bases(), [0, 1000]);
    assert.equal(segments.endOffset, 2000);
    assert.throws(() => segments.ensure(3000), /gap/);
    assert.deepEqual(segments.files.list('/s/commitlog'), names(0, 1000));
  });

  it('begins where it is told when it is empty', () => {
    const segments = make();
    segments.open();
    segments.ensure(5300);
    assert.deepEqual([segments.minOffset, segments.endOffset], [5000, 6000]);
  });

  it('reads across segment ends and stops where the files end', async () => {
    const segments = make();
    segments.open();
    for (const base of [0, 1000, 2000]) segments.ensure(base).write(Buffer.alloc(SIZE, base / 1000 + 1), 0, SIZE, 0);
    const target = Buffer.alloc(2500);
    assert.equal(segments.read(target, 10, 1500, 900), 1500);
    assert.deepEqual([target[9], target[10], target[109], target[110], target[1109], target[1110]], [0, 1, 1, 2, 2, 3]);
    assert.equal(segments.read(target, 0, 500, 2800), 200);
    assert.equal(segments.read(target, 0, 500, 3000), 0);
    const other = Buffer.alloc(2500);
    assert.equal(await segments.readAsync(other, 10, 1500, 900), 1500);
    assert.equal(await segments.readAsync(other, 0, 500, 2800), 200);
    assert.ok(other.equals(target));
  });

  it('shows a reader what another instance makes and removes', () => {
    const files = new MemoryFiles(1 << 24);
    const writer = make(files);
    const reader = make(files);
    writer.open();
    reader.open('read');
    const byte = Buffer.alloc(1);
    assert.equal(reader.read(byte, 0, 1, 0), 0);
    writer.ensure(0).write(Buffer.from('a'), 0, 1, 999);
    assert.equal(reader.read(byte, 0, 1, 999), 1);
    writer.ensure(1000);
    writer.ensure(2000).write(Buffer.from('b'), 0, 1, 0);
    assert.equal(reader.read(byte, 0, 1, 2000), 1);
    assert.equal(byte.toString(), 'b');
    assert.deepEqual(writer.dropBelow(1500), names(0));
    assert.deepEqual([writer.minOffset, reader.minOffset], [1000, 0]);
    reader.refresh();
    assert.equal(reader.minOffset, 1000);
    assert.equal(reader.read(byte, 0, 1, 500), 0);
  });

  it('finds that an unopened file was removed by another', () => {
    const files = new MemoryFiles(1 << 24);
    const writer = make(files);
    writer.open();
    writer.ensure(0);
    writer.ensure(1000);
    const reader = make(files);
    reader.open('read');
    writer.dropBelow(1000);
    assert.equal(reader.read(Buffer.alloc(1), 0, 1, 0), 0);
  });

  it('removes whole segments from either end, never the last from below', () => {
    const segments = make();
    segments.open();
    for (const base of [0, 1000, 2000, 3000]) segments.ensure(base);
    assert.deepEqual(segments.dropFrom(2500), names(3000));
    assert.deepEqual(segments.dropFrom(2000), names(2000));
    assert.deepEqual(segments.dropBelow(1999), names(0));
    assert.deepEqual(segments.dropBelow(99_999), []);
    assert.deepEqual(segments.bases(), [1000]);
    assert.deepEqual(segments.files.list('/s/commitlog'), names(1000));
  });

  it('keeps few descriptors open, and reads all the same', () => {
    class Counting extends MemoryFiles {
      open_ = 0;
      override open(path: string, mode: 'read' | 'readWrite'): ReturnType<MemoryFiles['open']> {
        const file = super.open(path, mode);
        this.open_ += 1;
        file.close = () => void (this.open_ -= 1);
        return file;
      }
    }
    const files = new Counting(1 << 24);
    const writer = make(files);
    writer.open();
    for (let base = 0; base < 200_000; base += SIZE) writer.ensure(base).write(Buffer.from([base / SIZE]), 0, 1, 0);
    const reader = make(files);
    reader.open('read');
    const byte = Buffer.alloc(1);
    for (let base = 0; base < 200_000; base += SIZE) {
      reader.read(byte, 0, 1, base);
      assert.equal(byte[0], base / SIZE);
    }
    assert.ok(files.open_ <= 64, `${files.open_} are open`);
    reader.close();
    assert.equal(files.open_, 0);
  });

  it('opens a segment for writing that was open for reading', () => {
    const segments = make(new LossyFiles() as unknown as MemoryFiles);
    segments.open();
    segments.ensure(0);
    segments.close();
    const reading = segments.fileAt(0, 'read');
    const writing = segments.fileAt(0, 'readWrite');
    assert.notEqual(reading, writing);
    assert.equal(segments.fileAt(0, 'read'), writing);
  });
});

describe('opening a log (B04)', () => {
  const three = (): MemoryFiles => {
    const files = new MemoryFiles(1 << 24);
    const segments = make(files);
    segments.open();
    for (const base of [0, 1000, 2000]) segments.ensure(base);
    return files;
  };
  const before = (files: MemoryFiles): unknown =>
    files.list('/s/commitlog').map((name) => [name, files.sizeOf(`/s/commitlog/${name}`)]);

  it('drops an empty last file, and the next append goes to the right offset', () => {
    const files = three();
    files.replace(`/s/commitlog/${names(3000)[0]}`, '', false);
    const reader = make(files);
    reader.open('read');
    assert.equal(files.list('/s/commitlog').length, 4, 'a reader changes nothing');
    const segments = make(files);
    assert.match(segments.open().emptyLast ?? '', /3000$/);
    assert.deepEqual(segments.bases(), [0, 1000, 2000]);
    assert.deepEqual(files.list('/s/commitlog'), names(0, 1000, 2000));
    segments.ensure(3000);
    assert.equal(files.sizeOf(`/s/commitlog/${names(3000)[0]}`), SIZE);
  });

  it('refuses a file of the wrong length, naming it, and changes nothing', () => {
    for (const [base, size] of [
      [0, 999],
      [1000, 0],
      [2000, 1001],
    ] as const) {
      const files = three();
      files.open(`/s/commitlog/${names(base)[0]}`, 'readWrite').truncate(size);
      files.replace(`/s/commitlog/${names(3000)[0]}`, '', false);
      const state = before(files);
      assert.throws(
        () => make(files).open(),
        (error: Error & { code: string }) =>
          error.code === 'SEGMENT_SIZE' &&
          error.message.includes(names(base)[0] ?? '?') &&
          error.message.includes(`has ${size} bytes`) &&
          error.message.includes('is 1000'),
      );
      assert.deepEqual(before(files), state);
    }
  });

  it('refuses a changed mappedFileSizeCommitLog', () => {
    const files = three();
    assert.throws(() => new Segments(files, '/s/commitlog', '/s/.tmp', 2000).open(), { code: 'SEGMENT_SIZE' });
    assert.throws(() => Segments.check(files, '/s/commitlog', 500), { code: 'SEGMENT_SIZE' });
    assert.equal(files.list('/s/commitlog').length, 3);
  });

  it('refuses a gap and a name that is no multiple', () => {
    const files = three();
    files.remove(`/s/commitlog/${names(1000)[0]}`);
    assert.throws(
      () => make(files).open(),
      (error: Error & { code: string }) =>
        error.code === 'SEGMENT_MISSING' && error.message.includes(names(1000)[0] ?? '?'),
    );
    const odd = new MemoryFiles(1 << 20);
    odd.createComplete(`/s/commitlog/${names(1500)[0]}`, SIZE, '/s/.tmp');
    assert.throws(() => make(odd).open(), { code: 'SEGMENT_NAME' });
  });

  it('lets go of what is removed elsewhere, also of all that it knows', () => {
    const files = three();
    const closed: number[] = [];
    const segments = make(files);
    segments.open('read');
    for (const base of segments.bases()) {
      const { file } = segments.fileAt(base, 'read')!;
      file.close = () => void closed.push(base);
    }
    segments.forgetBelow(SIZE - 1);
    assert.deepEqual([segments.minOffset, closed], [0, []]);
    segments.forgetBelow(2 * SIZE - 1);
    assert.deepEqual([segments.bases(), closed], [[SIZE, 2 * SIZE], [0]]);
    assert.equal(segments.fileAt(0, 'read'), undefined);
    segments.forgetBelow(9 * SIZE);
    assert.deepEqual([segments.bases(), closed], [[], [0, SIZE, 2 * SIZE]]);
    assert.equal(segments.fileAt(2 * SIZE, 'read')?.base, 2 * SIZE, 'it looks again');
  });

  it('leaves other names alone', () => {
    const files = three();
    files.replace('/s/commitlog/notes.txt', 'x', false);
    assert.deepEqual(make(files).open().foreign, ['notes.txt']);
    assert.ok(files.exists('/s/commitlog/notes.txt'));
  });
});

describe('fillers', () => {
  it('always have room behind a record', () => {
    assert.equal(roomFor(92, 5000, 5000, 100), true);
    assert.equal(roomFor(93, 5000, 5000, 100), false);
    assert.equal(roomFor(1, 5091, 5000, 100), true);
    assert.equal(roomFor(1, 5092, 5000, 100), false);
  });

  it('say how much of the segment is left', () => {
    const segments = make();
    segments.open();
    segments.ensure(0);
    const file = segments.ensure(1000);
    assert.equal(writeFiller(file, 1000, 1992, SIZE), 2000);
    const bytes = Buffer.alloc(8);
    file.read(bytes, 0, 8, 992);
    assert.equal(bytes.toString('hex'), '00000008cbd43194');
    assert.throws(() => writeFiller(file, 1000, 1993, SIZE));
    assert.throws(() => writeFiller(file, 1000, 2000, SIZE));
  });
});
