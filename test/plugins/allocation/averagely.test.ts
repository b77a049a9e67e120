import assert from 'node:assert/strict';
import { averagelyRule } from '../../../plugins/allocation/averagely/rule.js';
import type { MessageQueue } from '../../../plugins/allocation/contract.js';

const queues = (count: number): MessageQueue[] =>
  Array.from({ length: count }, (_, queueId) => ({ topic: 'T', brokerName: 'b', queueId }));
const clients = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);
const idsOf = (taken: readonly MessageQueue[]): number[] => taken.map(({ queueId }) => queueId);

describe('averagely', () => {
  it('deals neighbouring queues, the rest to the first clients', () => {
    const dealt = (count: number, ids: string[]): number[][] =>
      ids.map((id) => idsOf(averagelyRule.allocate('G', id, queues(count), ids)));
    // By hand from AllocateMessageQueueAveragely#allocate.
    assert.deepEqual(dealt(8, clients(3)), [[0, 1, 2], [3, 4, 5], [6, 7]]); // prettier-ignore
    assert.deepEqual(dealt(7, clients(2)), [[0, 1, 2, 3], [4, 5, 6]]); // prettier-ignore
    assert.deepEqual(dealt(4, clients(4)), [[0], [1], [2], [3]]);
    assert.deepEqual(dealt(2, clients(4)), [[0], [1], [], []]);
    assert.deepEqual(dealt(5, clients(1)), [[0, 1, 2, 3, 4]]);
  });

  it('gives every queue to exactly one client, evenly, for all small numbers', () => {
    for (let count = 1; count <= 20; count++)
      for (let group = 1; group <= 20; group++) {
        const ids = clients(group);
        const shares = ids.map((id) => idsOf(averagelyRule.allocate('G', id, queues(count), ids)));
        assert.deepEqual(shares.flat(), idsOf(queues(count)), `${count} queues, ${group} clients`);
        const sizes = shares.map((share) => share.length);
        assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      }
  });

  it('gives the queues of the list, not others like them', () => {
    const all = queues(4);
    const [first] = averagelyRule.allocate('G', 'c1', all, clients(2));
    assert.equal(first, all[2]);
  });

  it('gives nothing to a client that the group does not list', () => {
    assert.deepEqual(averagelyRule.allocate('G', 'x', queues(4), clients(2)), []);
  });

  it('refuses to deal without a client, queues or a group', () => {
    assert.throws(() => averagelyRule.allocate('G', '', queues(4), clients(2)), RangeError);
    assert.throws(() => averagelyRule.allocate('G', 'c0', [], clients(2)), RangeError);
    assert.throws(() => averagelyRule.allocate('G', 'c0', queues(4), []), RangeError);
  });

  it('is called AVG, as in Java', () => assert.equal(averagelyRule.name, 'AVG'));
});
