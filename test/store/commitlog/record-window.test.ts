import assert from 'node:assert/strict';
import { RecordWindow } from '../../../store/commitlog/record-window.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { testRecord } from '../../support/records.js';

const SEGMENT = 1 << 20;

function world(bodies: readonly number[]): {
  window: RecordWindow;
  records: Buffer[];
  reads: () => number;
  end: number;
} {
  const files = new MemoryFiles(1 << 24);
  const segments = new Segments(files, '/s/commitlog', '/s/.tmp', SEGMENT);
  segments.open();
  const file = segments.ensure(0);
  const records: Buffer[] = [];
  let end = 0;
  for (const [i, bytes] of bodies.entries()) {
    const record = testRecord({ physicalOffset: end, queueOffset: i, body: Buffer.alloc(bytes, i) });
    file.write(record, 0, record.length, end);
    records.push(record);
    end += record.length;
  }
  let reads = 0;
  const counted = {
    read: (...args: Parameters<Segments['read']>) => {
      reads++;
      return segments.read(...args);
    },
  };
  return { window: new RecordWindow(counted as Segments), records, reads: () => reads, end };
}

describe('RecordWindow', () => {
  it('reads records that follow each other with few reads, and any other one', () => {
    const { window, records, reads, end } = world(new Array<number>(500).fill(100));
    let at = 0;
    for (const record of records) {
      assert.ok(window.read(at, record.length, end)?.equals(record));
      at += record.length;
    }
    assert.ok(reads() < 10, `${reads()} reads for 500 records`);
    assert.ok(window.read(0, records[0].length, end)?.equals(records[0]));
  });

  it('reads a record that is larger than the window', () => {
    const { window, records, end } = world([10, 700_000, 10]);
    assert.ok(window.read(records[0].length, records[1].length, end)?.equals(records[1]));
    assert.ok(window.read(records[0].length + records[1].length, records[2].length, end)?.equals(records[2]));
  });

  it('knows where no record is: beyond the end, with another size, in the middle of one', () => {
    const { window, records, end } = world([100, 100]);
    const size = records[0].length;
    for (const [offset, bytes, limit] of [
      [size, size, end - 1],
      [end, size, end],
      [0, size - 1, end],
      [1, size, end],
      [0, 0, end],
    ])
      assert.equal(window.read(offset, bytes, limit), undefined, `${offset} ${bytes} ${limit}`);
  });
});
