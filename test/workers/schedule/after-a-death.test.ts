import assert from 'node:assert/strict';
import { SystemTopic } from '../../../protocol/message/names.js';
import { ScheduleWorld } from '../../support/schedule-world.js';

const bodies = Array.from({ length: 300 }, (_, i) => `m${i}`);

/** Messages that are due, none delivered. */
function filled(): ScheduleWorld {
  const world = new ScheduleWorld([1000]);
  world.store.table.register('T', 0);
  world.add(1, bodies);
  world.clock.advance(1000);
  return world;
}

describe("the schedule service after its thread's death", () => {
  it('repeats nothing that the writer stored between the two lives', () => {
    using world = filled();
    world.scheduler.step();
    world.settle();
    assert.ok(world.bodies().length > 0 && world.progress(1) === 0, 'stored, and not taken in');
    world.start();
    world.run();
    assert.deepEqual(world.bodies(), bodies);
    assert.equal(world.progress(1), bodies.length);
  });

  it('repeats nothing that the writer has not done yet, and hands nothing over before it has', () => {
    using world = filled();
    world.scheduler.step();
    const next = world.start();
    next.step();
    next.step();
    world.run();
    assert.deepEqual(world.bodies(), bodies);
  });

  it('does the same over deaths in a row', () => {
    using world = filled();
    for (let death = 0; death < 5; death++) {
      world.scheduler.step();
      if (death % 2 === 0) world.settle();
      world.start();
    }
    world.run();
    assert.deepEqual(world.bodies(), bodies);
  });

  it('delivers again what was refused between the two lives, and only that', () => {
    using world = filled();
    world.scheduler.step();
    world.settle();
    world.scheduler.step();
    const stored = world.bodies().length;
    assert.ok(stored > 0 && stored < bodies.length);
    world.disk.fail({ operation: 'write', path: 'commitlog', code: 'EIO' });
    world.settle();
    assert.equal(world.bodies().length, stored);
    world.start();
    world.run();
    world.clock.advance(200);
    world.run();
    assert.deepEqual(world.bodies(), bodies);
    assert.equal(world.progress(1), bodies.length);
  });

  it('keeps what was stored behind what was refused, over two deaths', () => {
    using world = new ScheduleWorld([1000]);
    for (const queueId of [0, 1]) world.store.table.register('T', queueId);
    const tooLargeNow = 'x'.repeat(300);
    world.add(1, [tooLargeNow, 'a', 'b']);
    world.clock.advance(1000);
    world.scheduler.step();
    // As if the disk had room for small ones only.
    const slots = new Int32Array(world.ring.slots);
    world.settle();
    slots[4] = 3;
    world.start();
    world.scheduler.step();
    assert.equal(world.progress(1), 0);
    world.start();
    world.clock.advance(200);
    world.run();
    const delivered = world.records().filter(({ topic }) => topic !== SystemTopic.SCHEDULE);
    assert.deepEqual(
      delivered.map(({ body }) => body.length),
      [300, 1, 1, 300],
      'the first one again, since it counts as refused; the others not',
    );
    assert.equal(world.progress(1), 3);
  });
});
