import assert from 'node:assert/strict';
import { ExtAhead } from '../../../plugins/reput/ext-ahead.js';
import { ExtUnits } from '../../../store/consumequeue/ext-unit.js';

/** One row's ext file: unit n has tags code n; what is not dispatched yet may be half written. */
class Bench {
  readonly ahead = new ExtAhead();
  readonly units = new ExtUnits();
  reads = 0;

  constructor(count: number) {
    this.grow(count);
  }

  grow(count: number): void {
    for (let i = 0; i < count; i++) this.units.add(0, this.units.length / 20, 1);
  }

  /** The tags code found at a unit, `dispatched` being how many are. */
  look(unit: number, dispatched: number, file = this.units.bytes.subarray(0, this.units.length)): number | undefined {
    const found = this.ahead.read(
      0,
      unit * 20,
      () => (dispatched - 1) * 20,
      (target) => {
        this.reads++;
        return file.copy(target, 0, unit * 20);
      },
    );
    return found === undefined ? undefined : found.tagsLow;
  }
}

describe('ext units read ahead', () => {
  it('are those of the file, with one read for many', () => {
    const bench = new Bench(500);
    for (let unit = 0; unit < 500; unit++) assert.equal(bench.look(unit, 500), unit);
    assert.equal(bench.reads, 2, 'one, and one for the last');
    assert.equal(bench.look(3, 500), 3);
  });

  it('are not kept when they were read before they were dispatched: they may have been half written', () => {
    const bench = new Bench(10);
    const torn = Buffer.from(bench.units.bytes.subarray(0, bench.units.length)).fill(0, 5 * 20 + 2);
    assert.equal(bench.look(0, 5, torn), 0);
    assert.deepEqual(
      [4, 5, 9].map((unit) => bench.look(unit, 10)),
      [4, 5, 9],
    );
  });

  it('are not there where the file has none', () => {
    const bench = new Bench(3);
    assert.equal(bench.look(3, 3), undefined);
    assert.equal(bench.look(1, -1), 1, 'whatever is said of the last one');
  });

  it('are kept for many rows, and not for any number', () => {
    const { units } = new Bench(3);
    const ahead = new ExtAhead();
    let reads = 0;
    const look = (row: number): unknown =>
      ahead.read(
        row,
        0,
        () => 40,
        (target) => {
          reads++;
          return units.bytes.copy(target, 0, 0, units.length);
        },
      );
    for (let row = 0; row < 1025; row++) look(row);
    look(1024);
    assert.equal(reads, 1025);
    look(0);
    assert.equal(reads, 1026);
  });
});
