import assert from 'node:assert/strict';
import { ReadyUnits } from '../../../plugins/reput/ready-units.js';
import { UNIT_BYTES, writeUnit } from '../../../store/consumequeue/unit.js';

const HOT = 1000;

/** Units whose records lie at these physical offsets. */
function units(...physicalOffsets: number[]): Buffer {
  const bytes = Buffer.alloc(physicalOffsets.length * UNIT_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (const [i, physicalOffset] of physicalOffsets.entries())
    writeUnit(view, i * UNIT_BYTES, physicalOffset, 100, 0, 0);
  return bytes;
}

function world(maxOffset: number) {
  const log = { maxOffset, isHot: (offset: number) => log.maxOffset - offset <= HOT };
  return { log, ready: new ReadyUnits(log) };
}

function learn(ready: ReadyUnits, row: number, offset: number, read: Buffer): void {
  ready.learn(row, offset, read, read.length);
}

describe('units that can be read at once', () => {
  it('are none of a queue of which nothing is known', () => {
    assert.equal(world(10_000).ready.has(5, 0, 1), false);
    assert.equal(world(HOT).ready.has(5, 0, 1), true, 'all of the log is near its tail');
  });

  it('are those that were brought, and no others, of the one queue', () => {
    const { ready } = world(10_000);
    ready.brought(5, 100, units(1, 2, 3, 4));
    assert.equal(ready.has(5, 100, 4), true);
    assert.equal(ready.has(5, 102, 2), true);
    for (const [row, offset, count] of [
      [5, 99, 4],
      [5, 100, 5],
      [5, 104, 1],
      [4, 100, 4],
      [6, 100, 4],
    ] as const)
      assert.equal(ready.has(row, offset, count), false, `${count} of ${row} from ${offset}`);
  });

  it('are those behind one that was read near the tail, whatever is brought of the same queue', () => {
    const { ready, log } = world(10_000);
    learn(ready, 5000, 700, units(9900));
    ready.brought(5000, 0, units(1, 2));
    assert.equal(ready.has(5000, 700, 800), true);
    assert.equal(ready.has(5000, 699, 1), false);
    log.maxOffset += HOT;
    assert.equal(ready.has(5000, 700, 1), false, 'it is not near any more');
  });

  it('stay so for who reads on at the tail, and for who reads a little behind it', () => {
    const { ready, log } = world(10_000);
    for (let offset = 0; offset < 1000; offset++) {
      learn(ready, 1, offset, units(log.maxOffset - 10));
      log.maxOffset += 20;
      assert.equal(ready.has(1, offset + 1, 1), true, `from ${offset + 1}`);
    }
    const late = 1000 - 15;
    learn(ready, 1, late, units(log.maxOffset - 300));
    learn(ready, 1, 1000, units(log.maxOffset - 10));
    assert.equal(ready.has(1, late, 1), true);
    assert.equal(ready.has(1, late - 1, 1), false);
  });

  it('are not told by units that stand for no record', () => {
    const { ready } = world(10_000);
    learn(ready, 1, 3, Buffer.alloc(UNIT_BYTES));
    learn(ready, 1, 3, Buffer.alloc(0));
    assert.equal(ready.has(1, 3, 1), false);
  });
});
