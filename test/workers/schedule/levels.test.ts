import assert from 'node:assert/strict';
import { LEVEL_WINDOW } from '../../../kernel/ring/level-words.js';
import type { Form } from '../../../workers/schedule/source.js';
import { ScheduleWorld } from '../../support/schedule-world.js';

const HOUR = 3_600_000;
const many = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `m${from + i}`);

describe('delay levels', () => {
  it('deliver each message when it is due, not earlier, and sleep until then', () => {
    using world = new ScheduleWorld([1000, 5000]);
    world.add(1, ['a']);
    world.clock.advance(400);
    world.add(1, ['b']);
    world.add(2, ['late']);
    assert.equal(world.run(), 600);
    world.clock.advance(599);
    assert.equal(world.run(), 1);
    assert.deepEqual(world.bodies(), []);
    world.clock.advance(1);
    assert.equal(world.run(), 400);
    assert.deepEqual(world.bodies(), ['a']);
    world.clock.advance(400);
    assert.equal(world.run(), 4000);
    world.clock.advance(4000);
    world.run();
    assert.deepEqual(world.bodies(), ['a', 'b', 'late']);
    assert.deepEqual([world.progress(1), world.progress(2)], [2, 1]);
  });

  it('want no turn while nothing waits, and hear what arrives', () => {
    using world = new ScheduleWorld([1000]);
    assert.ok(world.run() > 10_000);
    assert.equal(world.scheduler.restMs, Infinity, 'dispatching may rest beside it');
    world.add(1, ['a']);
    assert.equal(world.run(), 1000);
  });

  it('deliver in order, more than a step and a window hold', () => {
    using world = new ScheduleWorld([1000, 1000]);
    const count = LEVEL_WINDOW + 500;
    for (let i = 0; i < count; i += 500) {
      world.add(1, many(Math.min(500, count - i), i));
      world.add(2, many(Math.min(500, count - i), i), 'REAL_TOPIC\u0001U\u0002REAL_QID\u00010');
    }
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies(), many(count));
    assert.deepEqual(world.bodies('U'), many(count), 'none holds up the other');
    assert.deepEqual([world.progress(1), world.progress(2)], [count, count]);
  });

  it('hand over no more of a level than its window while nothing comes back; the others go on', () => {
    using world = new ScheduleWorld([1000, 1000]);
    world.store.table.register('T', 0);
    world.store.table.register('U', 0);
    for (let i = 0; i < 2000; i += 500) world.add(1, many(500, i));
    world.add(2, ['other'], 'REAL_TOPIC\u0001U\u0002REAL_QID\u00010');
    world.clock.advance(1000);
    for (let i = 0; i < 20; i++) world.scheduler.step();
    world.settle();
    assert.deepEqual(world.bodies(), many(LEVEL_WINDOW));
    assert.deepEqual(world.bodies('U'), ['other']);
    world.run();
    assert.deepEqual(world.bodies(), many(2000));
    assert.equal(world.progress(1), 2000);
  });

  it('deliver early what a clock that was set back put further away than the delay (4.9: correctDeliverTimestamp)', () => {
    using world = new ScheduleWorld([1000, 2 * HOUR]);
    world.add(1, ['short']);
    world.add(2, ['long']);
    world.clock.stepWall(-HOUR);
    world.run();
    assert.deepEqual(world.bodies().sort(), ['long', 'short']);
  });

  it('do not take for set back a clock that was read before the message was stored', () => {
    using world = new ScheduleWorld([1000]);
    world.clock.advance(24);
    world.add(1, ['a']);
    const clock = world.clock;
    const ofNow = clock.wallMs.bind(clock);
    // The step began 24 ms ago, and read the clock then.
    let reads = 0;
    clock.wallMs = () => ofNow() - (reads++ === 0 ? 24 : 0);
    world.scheduler.step();
    assert.ok(reads > 1, 'the clock was read again');
    clock.wallMs = ofNow;
    world.run();
    assert.deepEqual(world.bodies(), []);
    clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies(), ['a']);
  });

  it('deliver at once what a clock that was set forward passed over', () => {
    using world = new ScheduleWorld([1000, 2 * HOUR]);
    world.add(1, ['short']);
    world.add(2, ['long']);
    world.clock.stepWall(HOUR);
    assert.equal(world.run(), HOUR);
    assert.deepEqual(world.bodies(), ['short']);
    world.clock.stepWall(HOUR - 1);
    assert.equal(world.run(), 1);
  });

  it('find due times in ext units, and work them out again where those are missing', () => {
    using world = new ScheduleWorld([1000], { ext: true });
    world.add(1, ['a', 'b']);
    assert.equal(world.run(), 1000);
    const dir = '/store/consumequeue_ext/SCHEDULE_TOPIC_XXXX';
    assert.ok(world.disk.exists(dir), 'there are ext units');
    world.disk.removeTree(dir);
    world.start();
    world.clock.advance(999);
    assert.equal(world.run(), 1);
    world.clock.advance(1);
    world.run();
    assert.deepEqual(world.bodies(), ['a', 'b']);
  });

  it('go on where retention let the queue begin, and say what was lost', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['gone', 'gone too', 'there']);
    world.forgetBelow(1, 2);
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies(), ['there']);
    assert.equal(world.progress(1), 3);
    const lost = world.lines.filter(({ message }) => message.includes('were deleted'));
    assert.deepEqual(
      lost.map(({ level, fields }) => [level, fields['from'], fields['to']]),
      [['warn', 0, 2]],
    );
  });

  it('do not count what comes back from below the beginning of the queue', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['gone', 'gone too', 'there']);
    world.forgetBelow(1, 2);
    world.run();
    world.level(1).delivered(LEVEL_WINDOW);
    world.level(1).delivered(0);
    assert.ok(world.words.isDelivered(0, LEVEL_WINDOW), 'its entry was taken away');
  });

  it('wait, and say so once, while a queue file is missing', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['a']);
    const path = '/store/consumequeue/SCHEDULE_TOPIC_XXXX/0/00000000000000000000';
    const bytes = Buffer.from(world.disk.readAll(path));
    world.disk.remove(path);
    world.clock.advance(1000);
    assert.equal(world.run(), 1000);
    assert.equal(world.run(), 1000);
    assert.equal(world.lines.filter(({ message }) => message.includes('missing or damaged')).length, 1);
    world.disk.createComplete(path, bytes.length, '/store/temporary').write(bytes, 0, bytes.length, 0);
    world.run();
    assert.deepEqual(world.bodies(), ['a']);
  });

  it('store again elsewhere what is not due and lies where files are about to go', () => {
    using world = new ScheduleWorld([1000, 5000]);
    world.add(2, ['a']);
    const limit = world.records()[0].totalBytes;
    world.add(2, ['b']);
    world.run();
    const second = world.level(2);
    assert.equal(second.firstBelow(limit), 0);
    const dues = new Set<number>();
    const elsewhere: Form = {
      fill(_record, _parts, out) {
        Object.assign(out, { topic: 'Elsewhere', queueId: 3, properties: Buffer.from('P\u00011') });
        [out.propertiesStart, out.propertiesEnd] = [0, 3];
        return undefined;
      },
    };
    second.moveBelow(limit, (dueMs) => {
      dues.add(dueMs - world.clock.wallMs());
      return elsewhere;
    });
    world.run();
    assert.deepEqual([...dues], [5000]);
    assert.deepEqual(world.bodies('Elsewhere'), ['a']);
    assert.deepEqual([world.progress(2), second.firstBelow(limit)], [1, undefined]);
    world.clock.advance(5000);
    world.run();
    assert.deepEqual(world.bodies(), ['b']);
    assert.equal(world.records().find(({ topic }) => topic === 'Elsewhere')?.properties, 'P\u00011');
  });
});
