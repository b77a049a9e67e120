import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { CheckWorld } from './support/check-world.js';

describe('the transaction check, when halves have to move', () => {
  it('puts what is open below an offset behind everything else, uncounted, and says when none is there', async () => {
    using world = new CheckWorld();
    world.half({ PGROUP: 'gone' });
    world.settledHalves(10);
    const kept = world.half();
    world.rest();
    const offset = world.halves()[kept].physicalOffset;
    assert.equal(await world.moveBelow(offset), offset);
    assert.equal(world.halves().length, 13);
    assert.equal(world.checksOf(12), undefined);
    world.readAll();
    assert.equal(world.cursors.half, kept);
    assert.equal(world.open, 2);
    assert.deepEqual(
      (await world.scan(6000, ['gone'])).map(({ origin }) => origin),
      [0],
    );
  });

  it('moves old open ones when too many settled ones lie behind them', async () => {
    using world = new CheckWorld({ boot: { windowMax: 100 } });
    world.half({ PGROUP: 'gone' });
    world.settledHalves(99);
    await world.scan(1000, []);
    assert.equal(world.halves().length, 100);
    world.settledHalves(10);
    await world.scan(1000, []);
    assert.equal(world.halves().length, 111);
    world.readAll();
    assert.equal(world.cursors.half, 110);
    assert.equal(world.open, 1);
  });

  it('tries again what a full disk did not take, asks only then, and counts once', async () => {
    const files = new MemoryFiles(4 * 1024 * 1024);
    using world = new CheckWorld({ files });
    // Its copy needs room that is not there yet.
    world.half({}, Buffer.alloc(100_000, 1));
    world.rest();
    const full = fill(files);
    assert.deepEqual(await world.scan(6000), []);
    assert.deepEqual(await world.scan(), []);
    assert.equal(world.halves().length, 1);
    assert.ok((await world.moveBelow(1000)) < 1000, 'said that it moved what it could not');
    full[Symbol.dispose]();
    const [question] = await world.scan();
    assert.equal(question.queueOffset, 1);
    assert.equal(world.checksOf(1), '1');
  });
});

/** Takes all room that is left, until it is given back. */
function fill(files: MemoryFiles): Disposable {
  const path = '/filler';
  const file = files.createComplete(path, 64 * 1024 * 1024, '/temporary');
  const page = Buffer.alloc(64 * 1024, 1);
  try {
    for (let at = 0; ; at += page.length) file.write(page, 0, page.length, at);
  } catch {
    // No room any more.
  }
  return {
    [Symbol.dispose]() {
      file.close();
      files.remove(path);
    },
  };
}
