import assert from 'node:assert/strict';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { StoreState } from '../../plugins/commitlog/contract.js';
import { Queues } from '../../plugins/reput/contract.js';
import { javaHash } from '../../protocol/message/hash.js';
import { UNIT_BYTES, unitPhysicalOffset, unitSize, unitTagsCode } from '../../store/consumequeue/unit.js';
import type { RawClient } from '../support/raw-client.js';
import { send } from '../support/send-pull.js';
import { testBroker, type TestBroker } from '../support/test-broker.js';
import { until } from '../support/until.js';

/**
 * The tour, third part: dispatching. Behind the writer runs a reader (workers/reput) that gives each message a unit of 20 bytes in
 * its queue: where its record lies, how large it is, and the hash of its tag. A queue is a file of such units; the unit's place
 * is the message's queue offset.
 *
 * Before: 2-commitlog. Next: 4-pull reads a queue.
 */
describe('flow 3: the message is in its queue', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  it('as a unit: offset, size, tag', async () => {
    const queues = broker.get(Queues);
    const arrived: unknown[] = [];
    queues.onArrival((...arrival) => arrived.push(arrival));
    const { header } = await send(client, { topic: 'Orders', queueId: 3, properties: 'TAGS\u0001new' });
    await until(() => queues.maxOffset('Orders', 3) === 1, 'the queue grew');

    const unit = queues.entries('Orders', 3, 0, 1);
    assert.equal(unit.length, UNIT_BYTES);
    assert.equal(unitPhysicalOffset(unit, 0), Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8)));
    assert.ok(unitSize(unit, 0) > 91);
    assert.equal(Number(unitTagsCode(unit, 0)), javaHash('new'));
    // Whoever holds a pull for this queue hears of it.
    await until(() => arrived.length > 0, 'the arrival was told');
    assert.deepEqual(arrived[0], ['Orders', 3, 1]);
  });

  it('in the order in which the log has them', async () => {
    const queues = broker.get(Queues);
    for (let i = 0; i < 5; i++) await send(client, { topic: 'Parcels', body: Buffer.from(String(i)) });
    await until(() => queues.maxOffset('Parcels', 0) === 5, 'the queue grew');
    const offsets = [0, 1, 2, 3, 4].map((offset) => queues.entry('Parcels', 0, offset)!.physicalOffset);
    assert.deepEqual(
      offsets,
      offsets.toSorted((a, b) => a - b),
    );
  });

  it('behind the log, never before it', async () => {
    const { watermarks } = broker.get(StoreState);
    await until(() => watermarks.get(Watermark.dispatched) > 0, 'something is dispatched');
    assert.equal(watermarks.get(Watermark.dispatched), watermarks.get(Watermark.appended));
    assert.equal(broker.get(Queues).entry('Parcels', 0, 5), undefined);
  });
});
