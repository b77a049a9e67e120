import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Histogram } from '../../cli/bench/histogram.js';

describe('bench histogram', () => {
  it('is exact below 2,048', () => {
    const histogram = new Histogram();
    for (let value = 1; value <= 1000; value++) histogram.record(value);
    assert.deepEqual(histogram.percentiles(), { p50: 500, p90: 900, p99: 990, p999: 999, max: 1000 });
    assert.equal(histogram.mean, 500.5);
    assert.equal(histogram.count, 1000);
  });

  it('counts what lies at the ends, and cuts fractions', () => {
    const histogram = new Histogram();
    for (const value of [-5, 0, 0.9, 2 ** 31, 2 ** 40, Infinity]) histogram.record(value);
    assert.equal(histogram.percentile(50), 0);
    assert.equal(histogram.max, 2 ** 31 - 1);
    assert.equal(histogram.percentile(100), 2 ** 31 - 1);
    assert.equal(histogram.count, 6);
  });

  it('is empty at first and after a reset', () => {
    const histogram = new Histogram();
    histogram.record(5);
    histogram.reset();
    assert.deepEqual(histogram.percentiles(), { p50: 0, p90: 0, p99: 0, p999: 0, max: 0 });
    assert.equal(histogram.mean, 0);
  });

  it('is never below the true percentile, and at most one part in a thousand above', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(1, 50, 90, 99, 99.9, 100),
        (values, percent) => {
          const histogram = new Histogram();
          for (const value of values) histogram.record(value);
          const sorted = [...values].sort((a, b) => a - b);
          const truth = sorted[Math.max(0, Math.ceil((percent / 100) * values.length - 1e-9) - 1)]!;
          const shown = histogram.percentile(percent);
          assert.ok(shown >= truth, `${shown} is below ${truth}`);
          assert.ok(shown <= truth * 1.001 + 1, `${shown} is far above ${truth}`);
        },
      ),
    );
  });
});
