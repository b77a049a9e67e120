import assert from 'node:assert/strict';
import { SystemTopic } from '../../../protocol/message/names.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { CheckWorld } from './support/check-world.js';

const MAX_TIME = SystemTopic.TRANS_CHECK_MAX_TIME;

describe('the transaction check', () => {
  it('asks about a half that is old enough, once a scan, and stores the count before', async () => {
    using world = new CheckWorld();
    world.half();
    assert.deepEqual(await world.scan(5999), []);
    const [first] = await world.scan(1);
    assert.equal(first.queueOffset, 1);
    assert.equal(first.origin, 0);
    const copy = world.halves()[1];
    assert.equal(copy.physicalOffset, first.physicalOffset);
    const properties = parseProperties(copy.properties);
    assert.equal(properties.get('TRANSACTION_CHECK_TIMES'), '1');
    assert.equal(properties.get('TRAN_PREPARED_QUEUE_OFFSET'), '0');
    assert.equal(properties.get('REAL_TOPIC'), 'T');
    assert.equal(copy.bornTimestamp, world.halves()[0].bornTimestamp);
    assert.deepEqual(world.ops(), [0]);

    const [second] = await world.scan(1);
    assert.deepEqual([second.queueOffset, second.origin, world.checksOf(2)], [2, 0, '2']);
  });

  it('does not count while a half asks for time, and never asks then', async () => {
    using world = new CheckWorld();
    world.half({ CHECK_IMMUNITY_TIME_IN_SECONDS: '600' });
    for (let i = 0; i < 100; i++) assert.deepEqual(await world.scan(5990), []);
    assert.equal(world.halves().length, 1);
    assert.equal(world.open, 1);
    assert.equal((await world.scan(1000)).length, 1);
  });

  it('asks exactly as often as it may, then gives the half up once', async () => {
    using world = new CheckWorld();
    world.half({ CHECK_IMMUNITY_TIME_IN_SECONDS: '1' });
    let asked = 0;
    for (let i = 0; i < 40; i++) {
      world.settledHalves(5);
      asked += (await world.scan()).length;
    }
    assert.equal(asked, 15);
    const [given, ...more] = world.stored(MAX_TIME);
    assert.deepEqual(more, []);
    assert.equal(parseProperties(given.properties).get('TRANSACTION_CHECK_TIMES'), '15');
    assert.equal(world.open, 0);
    assert.equal(world.cursors.half, world.halves().length);
    assert.equal(world.cursors.op, world.ops().length);
  });

  it('neither asks nor counts while no producer of the group lives', async () => {
    using world = new CheckWorld();
    world.half();
    for (let i = 0; i < 30; i++) assert.deepEqual(await world.scan(60_000, ['other']), []);
    assert.equal(world.halves().length, 1);
    assert.equal((await world.scan(1, ['other', 'PG'])).length, 1);
    assert.equal(world.checksOf(1), '1');
  });

  it('asks once more, uncounted, when nobody could be asked', async () => {
    using world = new CheckWorld();
    world.half();
    const [question] = await world.scan(6000);
    world.checker.calls.notAsked([question.queueOffset]);
    assert.deepEqual(await world.scan(), [question]);
    assert.equal(world.halves().length, 2);
    assert.equal((await world.scan()).length, 1);
    assert.equal(world.checksOf(2), '2');
  });

  it('gives up what is older than files are kept, whoever lives', async () => {
    using world = new CheckWorld({ boot: { reservedMs: 10_000 } });
    world.half();
    await world.scan(10_000, []);
    assert.deepEqual(world.stored(MAX_TIME), []);
    await world.scan(1, []);
    assert.equal(world.stored(MAX_TIME).length, 1);
    assert.equal(world.cursors.half, 1);
  });

  it('reads no record of a half that was decided, and moves its cursors over it', async () => {
    using world = new CheckWorld();
    world.settledHalves(3000);
    assert.deepEqual(await world.scan(), []);
    assert.deepEqual(world.cursors, { half: 3000, op: 3000, opsRead: 3000 });
    assert.equal(world.open, 0);
  });

  it('passes over what it cannot read, names it, and goes on', async () => {
    using world = new CheckWorld();
    world.half();
    world.half();
    world.op(1);
    world.services.put({ topic: SystemTopic.TRANS_OP_HALF, properties: 'TAGS\u0001d', body: Buffer.from('x') });
    world.services.put({ topic: SystemTopic.TRANS_HALF, properties: 'PGROUP\u0001PG' });
    world.services.append(world.appender);
    damage(world, 0);
    const asked = await world.scan(6000);
    assert.deepEqual(
      asked.map(({ origin }) => origin),
      [2],
    );
    const named = world.services.logger.lines.filter(({ message }) => message.includes('passes over'));
    assert.equal(named.length, 2);
    assert.equal(world.cursors.half, 3);
  });
});

/** Of the half's record: it does not stand where it says any more. */
function damage(world: CheckWorld, half: number): void {
  world.rest();
  const { log } = world.services;
  const file = log.files.open(`${log.dir}/${'0'.repeat(20)}`, 'readWrite');
  file.write(Buffer.from([1, 2, 3, 4]), 0, 4, world.halves()[half].physicalOffset + 4);
  file.close();
}
