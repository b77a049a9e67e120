import assert from 'node:assert/strict';
import { SlotStatus } from '../../../kernel/ring/slots.js';
import { SystemTopic } from '../../../protocol/message/names.js';
import { ScheduleWorld } from '../../support/schedule-world.js';

const place = (topic: string, queueId: number | string): string =>
  `REAL_TOPIC\u0001${topic}\u0002REAL_QID\u0001${queueId}`;

describe('delivery of delayed messages', () => {
  it('keeps all of a message but its topic, queue and times', () => {
    using world = new ScheduleWorld([1000]);
    const properties = `UNIQ_KEY\u0001k\u0002${place('Target', 7)}\u0002WAIT\u0001false\u0002KEYS\u0001`;
    world.add(1, ['hello'], properties);
    world.clock.advance(1000);
    world.run();
    const [waited, delivered] = world.records();
    assert.deepEqual(delivered, {
      ...waited,
      physicalOffset: waited.totalBytes,
      storeTimestamp: waited.storeTimestamp + 1000,
      topic: 'Target',
      queueId: 7,
      queueOffset: 0,
      preparedTransactionOffset: 0,
      totalBytes: waited.totalBytes - SystemTopic.SCHEDULE.length + 'Target'.length,
      msgId: delivered.msgId,
    });
    assert.equal(delivered.properties, `DELAY\u00011\u0002${properties}`);
  });

  it('takes the last of two equal properties, as 4.9 does, and none that only begins or ends like one', () => {
    using world = new ScheduleWorld([1000]);
    world.add(
      1,
      ['a'],
      `${place('First', 0)}\u0002${place('Last', 1)}\u0002XREAL_TOPIC\u0001No\u0002REAL_TOPICX\u0001No`,
    );
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies('Last'), ['a']);
  });

  it('passes over what can never be delivered, with a line each', () => {
    using world = new ScheduleWorld([1000]);
    const bad = [
      '',
      'REAL_QID\u00010',
      place('', 0),
      place('../x', 0),
      place('T', ''),
      place('T', -1),
      place('T', '1x'),
      place('T', 2 ** 31),
      place('T', '99999999999'),
      place(SystemTopic.SCHEDULE, 0),
      place(SystemTopic.TRANS_HALF, 0),
    ];
    for (const properties of bad) world.add(1, ['bad'], properties);
    world.add(1, ['good']);
    world.clock.advance(1000);
    world.run();
    const delivered = world.records().slice(bad.length + 1);
    assert.deepEqual(
      delivered.map(({ topic, body }) => [topic, body.toString()]),
      [['T', 'good']],
    );
    assert.equal(world.progress(1), bad.length + 1);
    const lines = world.lines.filter(({ message }) => message === 'a delayed message cannot be delivered');
    assert.equal(lines.length, bad.length);
    assert.match(JSON.stringify(lines[0].fields), /"physicalOffset":0,"problem":"it has no property REAL_TOPIC"/);
  });

  it('passes over a record that is damaged', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['damaged', 'good']);
    world.disk.open('/store/commitlog/00000000000000000000', 'readWrite').write(Buffer.from([0]), 0, 1, 4);
    world.clock.advance(1000);
    world.run();
    assert.equal(world.progress(1), 2);
    assert.deepEqual(
      world.lines.map(({ fields }) => fields['problem']),
      ['it is not in the log any more'],
    );
  });

  it('tries again what a full disk refused, repeats nothing of what it stored, and says so once', () => {
    using world = new ScheduleWorld([1000]);
    const bodies = Array.from({ length: 20 }, (_, i) => `m${i}`);
    world.add(1, bodies);
    world.clock.advance(1000);
    world.run();
    world.add(1, bodies);
    world.clock.advance(1000);
    for (let attempt = 0; attempt < 3; attempt++) {
      world.disk.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
      assert.equal(world.run(), 200);
      assert.equal(world.run(), 200, 'not at once');
      assert.equal(world.progress(1), 20);
      world.clock.advance(200);
    }
    world.run();
    assert.deepEqual(world.bodies(), [...bodies, ...bodies]);
    assert.equal(world.progress(1), 40);
    assert.equal(world.lines.filter(({ message }) => message.includes('cannot be stored now')).length, 1);
  });

  it('hands nothing over again while others of the level are on their way', () => {
    using world = new ScheduleWorld([1000]);
    world.store.table.register('T', 0);
    world.add(1, ['a', 'b', 'c']);
    world.clock.advance(1000);
    world.scheduler.step();
    world.endWith(SlotStatus.noSpace, SlotStatus.stored);
    world.scheduler.step();
    world.clock.advance(1000);
    world.scheduler.step();
    assert.equal(world.handedOver, 3);
    world.endWith(SlotStatus.stored);
    world.scheduler.step();
    assert.equal(world.handedOver, 4, 'the one that was refused');
    world.endWith(SlotStatus.stored);
    world.scheduler.step();
    assert.deepEqual([world.handedOver, world.progress(1)], [4, 3]);
    assert.equal(new Int32Array(world.ledger.settled)[0], 4, 'no later life hears of them');
  });

  it('passes over what fits no segment, or not the ring', () => {
    using world = new ScheduleWorld([1000]);
    world.store.table.register('T', 0);
    world.add(1, ['x'.repeat(600_000)]);
    world.add(1, ['a', 'b']);
    world.clock.advance(1000);
    world.scheduler.step();
    world.endWith(SlotStatus.tooLarge, SlotStatus.stored);
    world.scheduler.step();
    assert.deepEqual([world.handedOver, world.progress(1)], [2, 3]);
    assert.deepEqual(
      world.lines.map(({ fields }) => fields['problem']),
      ['it does not fit the ring (maxMessageSize)', 'it does not fit a segment (mappedFileSizeCommitLog)'],
    );
  });

  it('lets each level have its turn when the ring is always full', () => {
    using world = new ScheduleWorld([1000, 1000], { ringSlots: 4 });
    for (const level of [1, 2])
      world.add(
        level,
        Array.from({ length: 20 }, (_, i) => `${level} ${i}`),
      );
    world.clock.advance(1000);
    world.store.table.register('T', 0);
    for (let i = 0; i < 4; i++) {
      world.scheduler.step();
      world.settle();
    }
    world.scheduler.step();
    assert.deepEqual([world.progress(1), world.progress(2)], [8, 8]);
  });

  it('hands nothing over while nothing may be stored', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['a']);
    world.clock.advance(1000);
    world.store.watermarks.holdBack(true);
    assert.equal(world.run(), 200);
    assert.deepEqual(world.bodies(), []);
    world.store.watermarks.holdBack(false);
    world.run();
    assert.deepEqual(world.bodies(), ['a']);
  });

  it('goes on after the ring was full', () => {
    using world = new ScheduleWorld([1000], { ringSlots: 4 });
    const bodies = Array.from({ length: 50 }, (_, i) => `m${i}`);
    world.add(1, bodies);
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(world.bodies(), bodies);
  });

  it('waits for rows of queues that nobody stored to before; the other levels go on', () => {
    using world = new ScheduleWorld([1000, 1000]);
    world.store.table.register('U', 0);
    world.add(1, ['new queue']);
    world.add(2, ['known queue'], place('U', 0));
    world.clock.advance(1000);
    assert.ok(world.scheduler.step() > 0);
    world.settle();
    assert.deepEqual(world.bodies('U'), ['known queue']);
    world.run();
    assert.deepEqual(world.bodies(), ['new queue']);
  });

  it('stores into the new queue of a topic that was deleted and made anew', () => {
    using world = new ScheduleWorld([1000]);
    world.add(1, ['before']);
    world.clock.advance(1000);
    world.run();
    world.add(1, ['after']);
    world.store.table.renew('T', 0);
    world.clock.advance(1000);
    world.run();
    assert.deepEqual(
      world
        .records()
        .filter(({ topic }) => topic === 'T')
        .map(({ queueOffset }) => queueOffset),
      [0, 0],
    );
  });

  it('ends a pause when nothing is on its way any more', async () => {
    using world = new ScheduleWorld([1000]);
    world.store.table.register('T', 0);
    world.add(1, ['a', 'b']);
    world.clock.advance(1000);
    world.scheduler.step();
    let paused = false;
    const pause = world.scheduler.calls.pause().then(() => (paused = true));
    world.add(1, ['c']);
    world.scheduler.step();
    await new Promise(setImmediate);
    assert.equal(paused, world.progress(1) === 2);
    world.run();
    await pause;
    world.clock.advance(1000);
    world.run();
    assert.deepEqual([world.progress(1), world.bodies()], [2, ['a', 'b']]);
    world.scheduler.calls.open();
    world.run();
    assert.deepEqual(world.bodies(), ['a', 'b', 'c']);
  });
});
