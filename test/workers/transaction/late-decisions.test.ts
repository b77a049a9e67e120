import assert from 'node:assert/strict';
import { LossyFiles } from '../../support/lossy-files.js';
import { CheckWorld } from './support/check-world.js';

describe('the transaction check, when a decision comes late', () => {
  it('closes the newest copy when the end names the half that the producer sent', async () => {
    using world = new CheckWorld();
    world.half();
    await world.scan(6000);
    await world.scan();
    world.op(0);
    assert.deepEqual(await world.scan(), [], 'nobody is asked after the end');
    assert.deepEqual(world.ops(), [0, 1, 0, 2]);
    assert.equal(world.open, 0);
    world.readAll();
    assert.deepEqual(world.cursors, { half: 3, op: 4, opsRead: 4 });
  });

  it('closes the newest copy when the end names a copy between', async () => {
    using world = new CheckWorld();
    world.half();
    await world.scan(6000);
    await world.scan();
    world.op(1);
    assert.deepEqual(await world.scan(), []);
    assert.deepEqual(world.ops(), [0, 1, 1, 2]);
    assert.equal(world.open, 0);
  });

  it('asks nobody when the end came while the copy was on its way', async () => {
    using world = new CheckWorld();
    world.half();
    world.clock.advance(6000);
    world.rest();
    const scan = world.checker.calls.scan(['PG']);
    // The copy is in the ring, and the op of the end comes into the log before it.
    while (world.checker.step() === 0);
    world.services.put({ topic: 'RMQ_SYS_TRANS_OP_HALF_TOPIC', body: Buffer.from('0'), properties: 'TAGS\u0001d' });
    world.services.writer.publish();
    world.rest();
    await scan;
    assert.equal(world.halves().length, 2);
    await world.scan();
    assert.equal(world.open, 0);
    assert.equal((await world.scan()).length, 0);
    assert.equal(world.halves().length, 2, 'the copy was asked about once more');
  });

  it('goes on after a restart between the copy and its op: one copy is open, the newest', async () => {
    using world = new CheckWorld();
    world.half();
    world.clock.advance(6000);
    world.rest();
    void world.checker.calls.scan(['PG']);
    while (world.checker.step() === 0);
    world.appender.step();
    world.restart();
    const asked = await world.scan();
    assert.deepEqual(
      asked.map(({ queueOffset, origin }) => [queueOffset, origin]),
      [[2, 0]],
    );
    assert.equal(world.checksOf(2), '2');
    assert.deepEqual(new Set(world.ops()), new Set([0, 1]));
  });

  it('closes a copy after a restart between it and its op, when the end came before', async () => {
    using world = new CheckWorld();
    world.half();
    world.clock.advance(6000);
    world.rest();
    void world.checker.calls.scan(['PG']);
    while (world.checker.step() === 0);
    world.appender.step();
    world.op(0);
    world.restart();
    assert.deepEqual(await world.scan(), []);
    assert.deepEqual(world.ops(), [0, 1]);
    world.readAll();
    assert.equal(world.open, 0);
    assert.equal(world.halves().length, 2);
  });

  it('asks nobody when the end is read before the op of the copy could be stored', async () => {
    const disk = new LossyFiles();
    using world = new CheckWorld({ files: disk });
    world.half();
    disk.fail({ operation: 'write', path: '/commitlog/', nth: 2, code: 'ENOSPC' });
    assert.deepEqual(await world.scan(6000), []);
    world.op(0);
    world.readAll();
    assert.deepEqual(await world.scan(), []);
    world.readAll();
    assert.deepEqual(new Set(world.ops()), new Set([0, 1]));
    assert.equal(world.open, 0);
  });

  for (const restart of [false, true])
    it(`closes a copy later when the disk was full, ${restart ? 'also after a restart' : 'in the same life'}`, async () => {
      const disk = new LossyFiles();
      using world = new CheckWorld({ files: disk });
      world.half();
      await world.scan(6000);
      world.op(0);
      disk.fail({ operation: 'write', path: '/commitlog/', code: 'ENOSPC' });
      assert.deepEqual(await world.scan(), []);
      assert.equal(world.open, 1);
      assert.equal(world.cursors.op, 0);
      if (restart) {
        world.restart();
        assert.deepEqual(await world.scan(), []);
      }
      world.readAll();
      assert.equal(world.open, 0);
      assert.equal(world.ops().at(-1), 1);
    });

  it('knows after a restart what ended behind a half that stays open', async () => {
    using world = new CheckWorld();
    world.half({ PGROUP: 'gone' });
    world.settledHalves(1500);
    world.readAll();
    assert.deepEqual(world.cursors, { half: 0, op: 0, opsRead: 1500 });
    world.restart();
    assert.equal(world.open, 1);
  });

  it('knows after a restart what was decided by old coordinates, although an older half holds the cursors', async () => {
    using world = new CheckWorld();
    world.half({ PGROUP: 'gone' });
    world.half();
    await world.scan(6000);
    world.op(1);
    assert.equal(world.cursors.half, 0);
    world.restart();
    assert.deepEqual(await world.scan(), []);
    assert.equal(world.open, 1);
    assert.equal(world.cursors.half, 0);
  });

  it('settles an old half that ended before its copy was made', async () => {
    using world = new CheckWorld();
    world.half({ PGROUP: 'gone' });
    world.half();
    await world.scan(6000);
    world.op(2);
    world.restart();
    assert.deepEqual(await world.scan(), []);
    assert.equal(world.halves().length, 3);
    assert.equal(world.open, 1);
  });

  it('never asks more often over restarts than it may', async () => {
    using world = new CheckWorld();
    world.half();
    let asked = 0;
    for (let i = 0; i < 40; i++) {
      asked += (await world.scan(6000)).length;
      if (i % 3 === 0) world.restart();
    }
    assert.equal(asked, 15);
    assert.equal(world.stored('TRANS_CHECK_MAX_TIME_TOPIC').length, 1);
  });
});
