import assert from 'node:assert/strict';
import { loadAllocationPlugin, loadAllocationRule } from '../../plugins/allocation/load.js';
import { allocationConformance, type MessageQueue } from '../../plugins/plugin-api.js';
import { BuiltExample } from '../support/built-example.js';

const queues = (count: number): MessageQueue[] =>
  Array.from({ length: count }, (_, queueId) => ({ topic: 'T', brokerName: 'b', queueId }));

/** The example in plain JavaScript, loaded as `--allocate` loads it. */
const weight = await loadAllocationPlugin('./examples/allocate-weight');

allocationConformance(
  weight,
  {
    options: '10.0.0.7=3, 10.0.0.8=2',
    clientIds: ['10.0.0.7@1', '10.0.0.8@1', '10.0.0.9@1', '__proto__'],
    expected: [
      { queues: queues(12), shares: { '10.0.0.7@1': [0, 1, 2, 3, 4, 5], '10.0.0.8@1': [6, 7, 8, 9], x: [10, 11] } },
      { queues: queues(1), shares: { '10.0.0.7@1': [0], x: [] } },
    ],
  },
  { describe, it },
);

allocationConformance(
  weight,
  { expected: [{ queues: queues(5), shares: { a: [0, 1, 2], b: [3, 4] } }] },
  { describe, it },
);

describe('example allocate-weight', () => {
  it('says what is wrong with weights', async () => {
    for (const options of ['10.0.0.7', '=1', 'a=0', 'a=1,', 'a=-1'])
      await assert.rejects(loadAllocationRule(`./examples/allocate-weight:${options}`), /is not ADDRESS=WEIGHT/);
  });
});

describe('example allocate-rendezvous', () => {
  it('is built, passes its own test, and is loaded by its folder and as a package', async function () {
    this.timeout(60_000);
    using example = await BuiltExample.of('allocate-rendezvous');
    await example.test();
    const rule = await loadAllocationRule(example.path);
    assert.equal(rule.name, 'RENDEZVOUS');
    const ids = ['a', 'b', 'c'];
    const share = (id: string, among: readonly string[]): MessageQueue[] => rule.allocate('G', id, queues(64), among);
    for (const id of ['a', 'b']) {
      const kept = new Set(share(id, ['a', 'b']).map(({ queueId }) => queueId));
      assert.ok(
        share(id, ids).every(({ queueId }) => kept.has(queueId)),
        'a member that comes moves only what it takes',
      );
    }
  });
});
