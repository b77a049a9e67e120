import assert from 'node:assert/strict';
import { circleRule } from '../../client/index.js';
import { allocationConformance, defineAllocation, type AllocationRule } from '../../plugins/plugin-api.js';

/** The titles of those tests of the suite that a rule fails. */
function failures(rule: AllocationRule | ((options: string) => AllocationRule)): string[] {
  const failed: string[] = [];
  const expected = [{ queues: [{ topic: 'T', brokerName: 'b', queueId: 0 }], shares: { a: [0], b: [] } }];
  allocationConformance(
    defineAllocation('broken', rule),
    { expected },
    {
      describe: (_title, body) => body(),
      it: (title, body) => {
        try {
          body();
        } catch {
          failed.push(title);
        }
      },
    },
  );
  return failed;
}

describe('the conformance suite of allocation rules', () => {
  const { allocate } = circleRule;
  const broken = (change: AllocationRule['allocate']): string[] => failures({ name: 'BROKEN', allocate: change });
  const twice = 'gives no queue to two clients, and none that is not there';
  const same = 'gives the same answer to the same question, in any order and from any instance';
  const absent = 'gives nothing to a client that the group does not list';
  const asExpected = 'shares 1 queues out among 2 clients as expected';

  it('passes a rule that keeps the contract', () => assert.deepEqual(failures(circleRule), []));

  it('finds queues that two clients get, that nobody gets, and that do not exist', () => {
    assert.ok(broken((_group, _id, queues) => [...queues]).includes(twice));
    assert.ok(broken(() => []).includes(twice));
    assert.ok(broken((...ask) => allocate(...ask).map((queue) => ({ ...queue, topic: 'X' }))).includes(twice));
    assert.ok(broken((...ask) => [...allocate(...ask), ...allocate(...ask)]).includes(twice));
    assert.ok(broken((...ask) => new Set(allocate(...ask)) as never).includes(twice));
  });

  it('finds rules that remember, and rules that change their lists', () => {
    const byName = new Map<string, number>();
    const remembering: AllocationRule['allocate'] = (group, id, queues, ids) => {
      // Who comes first is first.
      for (const one of [id, ...ids]) if (!byName.has(one)) byName.set(one, byName.size);
      return allocate(
        group,
        id,
        queues,
        [...ids].sort((a, b) => byName.get(a)! - byName.get(b)!),
      );
    };
    let made = 0;
    assert.ok(failures(() => ({ name: 'BROKEN', allocate: made++ % 2 === 0 ? allocate : remembering })).includes(same));
    const sorting: AllocationRule['allocate'] = (group, id, queues, ids) =>
      allocate(group, id, queues, (ids as string[]).sort());
    assert.ok(broken(sorting).includes(asExpected));
  });

  it('finds rules that give queues to clients who are not there, other shares than were expected, and slow ones', () => {
    const careless = (...[group, id, queues, ids]: Parameters<AllocationRule['allocate']>) =>
      ids.includes(id) ? allocate(group, id, queues, ids) : [...queues];
    assert.deepEqual(broken(careless), [absent]);
    assert.deepEqual(
      broken((group, id, queues, ids) => allocate(group, id, queues, [...ids].reverse())),
      [asExpected],
    );
    const slow: AllocationRule['allocate'] = (group, id, queues, ids) => {
      if (queues.length === 1000) for (const end = performance.now() + 150; performance.now() < end;) continue;
      return allocate(group, id, queues, ids);
    };
    assert.deepEqual(broken(slow), ['answers within 100 ms for a thousand queues']);
  });
});
