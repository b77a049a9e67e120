import assert from 'node:assert/strict';
import type { Decision } from '../../../plugins/transaction/contract.js';
import { Decisions } from '../../../plugins/transaction/decisions.js';
import type { Ending } from '../../../plugins/transaction/ending.js';
import { FakeClock } from '../../support/fake-clock.js';

const ORIGINS = [0, 1, 15, 16, 16_383, 16_384, 5_000_000_000];
const KEPT_MS = 10 * 60_000;

function ending(origin: number, decision: Decision = 'committed'): Ending {
  return { origin, decision } as Ending;
}

describe('decisions on transactions', () => {
  it('are known from their beginning on, unless they are taken back', () => {
    const decisions = new Decisions(new FakeClock());
    const [first, second] = [ending(3), ending(4, 'rolledBack')];
    decisions.begin(first);
    decisions.begin(second);
    assert.deepEqual(
      [3, 4, 5].map((origin) => decisions.of(origin)),
      ['committed', 'rolledBack', undefined],
    );
    assert.equal(decisions.ending(3), first);
    assert.equal(decisions.underWay, 2);
    decisions.takeBack(first);
    assert.equal(decisions.of(3), undefined);
    decisions.settle(second, 0);
    assert.deepEqual([decisions.of(4), decisions.ending(4), decisions.underWay], ['rolledBack', undefined, 0]);
  });

  it('are kept for any offset, beside each other', () => {
    const decisions = new Decisions(new FakeClock());
    ORIGINS.forEach((origin, i) => decisions.settle(ending(origin, i % 2 === 0 ? 'committed' : 'rolledBack'), i));
    ORIGINS.forEach((origin, i) => {
      assert.equal(decisions.of(origin), i % 2 === 0 ? 'committed' : 'rolledBack');
      if (!ORIGINS.includes(origin + 2)) assert.equal(decisions.of(origin + 2), undefined);
    });
  });

  it('go when the checks have read of them and nobody can be answering any more, and not before', () => {
    const clock = new FakeClock();
    const decisions = new Decisions(clock);
    decisions.settle(ending(1), 10);
    clock.advance(KEPT_MS - 1);
    decisions.settle(ending(100_000), 11);
    decisions.opsRead(1000);
    assert.equal(decisions.of(1), 'committed', 'a question may be on its way');
    clock.advance(2);
    decisions.opsRead(10);
    assert.equal(decisions.of(1), 'committed', 'its op record was not read');
    decisions.opsRead(11);
    assert.deepEqual([decisions.of(1), decisions.of(100_000)], [undefined, 'committed']);
  });

  it('are bounded: of 67 million the oldest go', () => {
    const decisions = new Decisions(new FakeClock());
    const CHUNK = 16_384;
    for (let i = 0; i <= 4096; i++) decisions.settle(ending(i * CHUNK), i);
    assert.deepEqual(
      [0, 1, 4096].map((i) => decisions.of(i * CHUNK)),
      [undefined, 'committed', 'committed'],
    );
  });
});
