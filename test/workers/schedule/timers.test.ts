import assert from 'node:assert/strict';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { SystemTopic } from '../../../protocol/message/names.js';
import { decodeTimerProgress } from '../../../store/schedule/timer-progress.js';
import { runToRest } from '../../support/log-services.js';
import { ScheduleWorld } from '../../support/schedule-world.js';

const many = Array.from({ length: 300 }, (_, i) => i + 1);
const texts = (numbers: readonly number[]): string[] => numbers.map(String);

function pendingIn(world: ScheduleWorld): { end: number; count: number } {
  const { end, pending } = decodeTimerProgress(Buffer.from(world.scheduler.calls.timers().content ?? ''));
  return { end, count: pending.count };
}

describe('timers', () => {
  it('wait exactly until the next is due', () => {
    using world = new ScheduleWorld();
    world.addTimers([5000, 700, 900]);
    assert.equal(world.run(), 700);
    world.clock.advance(699);
    assert.equal(world.run(), 1);
    assert.deepEqual(world.bodies(), []);
    world.clock.advance(1);
    assert.equal(world.run(), 200);
    assert.deepEqual(world.bodies(), ['700']);
    assert.deepEqual(pendingIn(world), { end: 3, count: 2 });
  });

  it('come in order of their times, with more of them than one step takes', () => {
    using world = new ScheduleWorld();
    const shuffled = many.map((_, i) => many[(i * 7) % many.length]);
    world.addTimers(shuffled);
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies(), texts(many));
  });

  it('are neither lost nor repeated nor early when the clock is set', () => {
    using world = new ScheduleWorld();
    world.addTimers([100, 200, 3_600_100]);
    world.clock.advance(150);
    world.run();
    world.clock.stepWall(-3_600_000);
    assert.equal(world.run(), 3_600_050);
    assert.deepEqual(world.bodies(), ['100']);
    world.clock.stepWall(7_200_000);
    world.run();
    assert.deepEqual(world.bodies(), ['100', '200', '3600100']);
    world.clock.stepWall(-7_200_000);
    world.run();
    assert.equal(world.bodies().length, 3);
  });

  it('that cannot be stored come again, without those that were', () => {
    using world = new ScheduleWorld();
    world.addTimers(many);
    world.clock.advance(1000);
    world.scheduler.step();
    world.scheduler.step();
    world.disk.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
    world.run();
    world.clock.advance(200);
    world.run();
    assert.deepEqual(world.bodies().sort(), texts(many).sort());
    assert.equal(pendingIn(world).count, 0);
  });

  it('that can never be delivered are named, and stop no other', () => {
    using world = new ScheduleWorld();
    world.addTimers([1], 'REAL_QID\u00010');
    world.addTimers([2], 'REAL_TOPIC\u0001rmq_sys_wheel_timer\u0002REAL_QID\u00010');
    world.addTimers([3]);
    world.clock.advance(3);
    world.run();
    assert.deepEqual(world.bodies(), ['3']);
    assert.equal(world.lines.filter(({ message }) => message.includes('cannot be delivered')).length, 2);
    assert.equal(pendingIn(world).count, 0);
  });

  describe("after their thread's death", () => {
    it('none comes twice: what the snapshot does not know stands in shared memory', () => {
      using world = new ScheduleWorld();
      world.addTimers(many.slice(0, 100));
      world.clock.advance(50);
      world.run();
      world.snapshot = world.scheduler.calls.timers();
      world.addTimers(many.slice(100).map((ms) => ms - 50));
      world.clock.advance(150);
      world.run();
      const seen = world.bodies().length;
      assert.ok(seen > 100);
      world.start();
      world.run();
      assert.equal(world.bodies().length, seen);
      world.clock.advance(1000);
      world.run();
      assert.equal(world.bodies().length, 300);
    });

    it('none comes twice that was on its way, over deaths in a row', () => {
      using world = new ScheduleWorld();
      world.store.table.register('T', 0);
      world.addTimers(many);
      world.clock.advance(1000);
      for (let death = 0; death < 5; death++) {
        world.scheduler.step();
        if (death % 2 === 0) world.settle();
        world.start();
      }
      world.run();
      assert.deepEqual(world.bodies(), texts(many));
    });
  });

  describe('in files that are to be deleted', () => {
    /** Three timers and three messages of a level below `edge`, then three timers behind it. */
    function filled(): { world: ScheduleWorld; edge: number } {
      const world = new ScheduleWorld([5000]);
      for (const topic of ['T', 'L']) world.store.table.register(topic, 0);
      world.addTimers([1000, 2000, 3000]);
      world.add(1, ['a', 'b', 'c'], 'REAL_TOPIC\u0001L\u0002REAL_QID\u00010\u0002TIMER_OUT_MS\u00015');
      const edge = world.store.mark(Watermark.appended);
      world.addTimers([1500, 2500, 3500]);
      world.run();
      return { world, edge };
    }

    /** As retention: what lies below is gone. */
    function cut(world: ScheduleWorld, edge: number): void {
      const { table, watermarks } = world.store;
      watermarks.advance(Watermark.logMin, edge);
      table.set(table.find(SystemTopic.TIMER, 0), QueueWord.minimum, 3);
      world.forgetBelow(1, 3);
    }

    it('are stored again at the end of the log, and come once, at their times', async () => {
      const { world, edge } = filled();
      using _ = world;
      const moved = world.scheduler.calls.moveBelow(edge);
      world.run();
      assert.equal(await moved, edge);
      const again = world
        .records()
        .filter(({ physicalOffset, topic }) => physicalOffset >= edge && topic === SystemTopic.TIMER);
      assert.deepEqual(again.map(({ body }) => body.toString()).sort(), [
        '1000',
        '1500',
        '2000',
        '2500',
        '3000',
        '3500',
        'a',
        'b',
        'c',
      ]);
      cut(world, edge);
      assert.equal(world.progress(1), 3);
      assert.deepEqual(pendingIn(world), { end: 12, count: 9 });
      for (const [ms, timers, level] of [
        [999, 0, 0],
        [1, 1, 0],
        [2500, 6, 0],
        [1499, 6, 0],
        [1, 6, 3],
      ]) {
        world.clock.advance(ms);
        world.run();
        assert.deepEqual([world.bodies('T').length, world.bodies('L').length], [timers, level], String(ms));
      }
      assert.deepEqual(world.bodies('T'), ['1000', '1500', '2000', '2500', '3000', '3500']);
      assert.deepEqual(world.bodies('L'), ['a', 'b', 'c']);
      assert.ok(
        world.lines.every(({ level }) => level === 'info'),
        JSON.stringify(world.lines),
      );
    });

    it('that fall due while they are stored again come once', async () => {
      const { world, edge } = filled();
      using _ = world;
      const moved = world.scheduler.calls.moveBelow(edge);
      world.scheduler.step();
      world.clock.advance(10_000);
      world.scheduler.step();
      world.run();
      assert.equal(await moved, edge);
      assert.deepEqual(world.bodies('T').sort(), ['1000', '1500', '2000', '2500', '3000', '3500']);
      assert.equal(world.bodies('L').length, 3);
    });

    it('that are on their way when the move begins come once', async () => {
      const { world, edge } = filled();
      using _ = world;
      world.clock.advance(10_000);
      world.scheduler.step();
      const moved = world.scheduler.calls.moveBelow(edge);
      world.scheduler.step();
      world.run();
      assert.equal(await moved, edge);
      assert.deepEqual(world.bodies('T').sort(), ['1000', '1500', '2000', '2500', '3000', '3500']);
    });

    it('stay where they are when the disk takes no more: nothing may go that is needed', async () => {
      const { world, edge } = filled();
      using _ = world;
      const moved = world.scheduler.calls.moveBelow(edge);
      world.disk.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
      world.run();
      assert.equal(await moved, 0);
      world.clock.advance(10_000);
      for (let i = 0; i < 3; i++) {
        world.run();
        world.clock.advance(200);
      }
      assert.deepEqual(world.bodies('T').sort(), ['1000', '1500', '2000', '2500', '3000', '3500']);
    });

    it('do not make nothing wait: without any below, the answer comes at once', async () => {
      using world = new ScheduleWorld();
      world.addTimers([10]);
      world.clock.advance(10);
      world.run();
      const moved = world.scheduler.calls.moveBelow(100);
      world.run();
      assert.equal(await moved, 100);
    });

    it('that are gone all the same are counted, and the others come', () => {
      const { world, edge } = filled();
      using _ = world;
      world.snapshot = world.scheduler.calls.timers();
      cut(world, edge);
      world.start();
      world.clock.advance(10_000);
      world.run();
      assert.deepEqual(world.bodies('T'), ['1500', '2500', '3500']);
      const line = world.lines.find(({ fields }) => fields['messages'] === 3);
      assert.match(line?.message ?? '', /deleted with old files before they were delivered/);
    });
  });

  it('in a queue whose file is missing wait for it, and the log says so', () => {
    using world = new ScheduleWorld();
    world.addTimers([10]);
    const { table } = world.store;
    const row = table.find(SystemTopic.TIMER, 0);
    table.set(row, QueueWord.dispatched, 2000);
    world.run();
    world.clock.advance(10);
    world.run();
    assert.deepEqual(world.bodies(), ['10'], 'those before it come');
    assert.equal(world.lines.filter(({ message }) => message.includes('missing or damaged')).length, 1);
    runToRest(world.dispatcher);
  });
});
