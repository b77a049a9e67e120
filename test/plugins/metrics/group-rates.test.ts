import assert from 'node:assert/strict';
import { PullRates } from '../../../plugins/metrics/group-rates.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('plugins/metrics: what groups get per second', () => {
  const setUp = () => {
    const clock = new FakeClock();
    const rates = new PullRates(clock);
    const tick = (): void => {
      clock.advance(10_000);
      rates.sample();
    };
    return { rates, tick };
  };

  it('is 0 until two samples are there, then the mean of up to a minute', () => {
    const { rates, tick } = setUp();
    assert.equal(rates.of('G', 'T'), 0);
    rates.count('G', 'T', 5);
    tick();
    assert.equal(rates.of('G', 'T'), 0);
    rates.count('G', 'T', 100);
    rates.count('G', 'U', 7);
    tick();
    assert.equal(rates.of('G', 'T'), 10);
    assert.deepEqual([rates.of('G', 'U'), rates.of('H', 'T')], [0, 0]);
    for (let i = 0; i < 6; i++) tick();
    assert.equal(rates.of('G', 'T'), 0, 'a minute later nothing of it counts');
  });

  it('forgets who got nothing for a minute, and counts those that come back anew', () => {
    const { rates, tick } = setUp();
    rates.count('G', 'T', 5);
    for (let i = 0; i < 8; i++) tick();
    rates.count('G', 'T', 1000);
    tick();
    assert.equal(rates.of('G', 'T'), 0);
    rates.count('G', 'T', 20);
    tick();
    assert.equal(rates.of('G', 'T'), 2);
  });
});
