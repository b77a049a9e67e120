import assert from 'node:assert/strict';
import { viewOf } from '../../../protocol/copy.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { blankUnits, writeUnit } from '../../../store/consumequeue/unit.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { queueMinima, type QueueMinimum } from '../../../store/retention/queue-minima.js';

/** Ten units a file; record n lies at n × 100. */
function queue(from: number, count: number): QueueFiles {
  const files = new MemoryFiles(1 << 22);
  const place = { files, dir: '/s/consumequeue', temporaryDir: '/s/.tmp', fileBytes: 200, openMax: 8 };
  const queues = new QueueFiles({ ...place, mode: 'readWrite' });
  const units = Buffer.alloc(count * 20);
  for (let index = 0; index < count; index++) writeUnit(viewOf(units), index * 20, (from + index) * 100, 100, 0, 0);
  queues.write('T', 0, from, units, units.length);
  return queues;
}

function minima(queues: QueueFiles, minimum: number, dispatched: number, logMin: number): readonly QueueMinimum[] {
  const { moved, problems } = queueMinima(queues, [{ row: 7, topic: 'T', queueId: 0, minimum, dispatched }], logMin);
  assert.deepEqual(problems, []);
  return moved;
}

describe('where queues begin when the log begins later', () => {
  it('is the first unit whose record is still there, also inside of a file (B16)', () => {
    const queues = queue(0, 35);
    assert.deepEqual(minima(queues, 0, 35, 300), [{ row: 7, minimum: 3, oldFiles: false }]);
    assert.deepEqual(minima(queues, 0, 35, 1300), [{ row: 7, minimum: 13, oldFiles: true }]);
    assert.deepEqual(minima(queues, 0, 35, 1301), [{ row: 7, minimum: 14, oldFiles: true }]);
    assert.deepEqual(minima(queues, 13, 35, 2000), [{ row: 7, minimum: 20, oldFiles: true }]);
  });

  it('is the end of a queue of which nothing is left (B16)', () => {
    assert.deepEqual(minima(queue(0, 35), 13, 35, 9999), [{ row: 7, minimum: 35, oldFiles: true }]);
    assert.deepEqual(minima(queue(0, 7), 0, 7, 9999), [{ row: 7, minimum: 7, oldFiles: false }]);
  });

  it('does not move when the first record is there, or nothing is', () => {
    assert.deepEqual(minima(queue(0, 9), 5, 9, 500), []);
    assert.deepEqual(minima(queue(0, 9), 9, 9, 9999), []);
    assert.deepEqual(minima(queue(0, 9), 0, 9, 0), []);
  });

  it('lies behind blank units', () => {
    const queues = queue(24, 10);
    const blank = queues.read('T', 0, 20, 4);
    assert.ok(blank.equals(blankUnits(4)));
    assert.deepEqual(minima(queues, 20, 34, 0), [{ row: 7, minimum: 24, oldFiles: false }]);
    assert.deepEqual(minima(queues, 20, 34, 2600), [{ row: 7, minimum: 26, oldFiles: false }]);
  });

  it('does not reach beyond what is dispatched', () => {
    assert.deepEqual(minima(queue(0, 35), 0, 12, 9999), [{ row: 7, minimum: 12, oldFiles: true }]);
  });

  it('does not stop at a queue that cannot be read', () => {
    const queues = queue(0, 35);
    const { files } = queues;
    const open = files.open.bind(files);
    files.open = (path, mode) => {
      if (path.includes('/T/1/')) throw Object.assign(new Error('EIO: bad disk'), { code: 'EIO' });
      return open(path, mode);
    };
    const spans = [1, 0].map((queueId) => ({ row: queueId, topic: 'T', queueId, minimum: 0, dispatched: 35 }));
    assert.deepEqual(queueMinima(queues, spans, 300), {
      moved: [{ row: 0, minimum: 3, oldFiles: false }],
      problems: ['T/1: EIO: bad disk'],
    });
  });

  it('tells of files that an earlier run left, never of the last one', () => {
    const queues = queue(0, 20);
    assert.deepEqual(minima(queues, 15, 20, 0), [{ row: 7, minimum: 15, oldFiles: true }]);
    queues.dropBelow('T', 0, 15);
    assert.deepEqual(minima(queues, 15, 20, 0), []);
    assert.deepEqual(minima(queues, 20, 20, 0), []);
  });
});
