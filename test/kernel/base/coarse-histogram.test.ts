import assert from 'node:assert/strict';
import { CoarseHistogram, coarseBetween, parseCoarse, summaryOf } from '../../../kernel/base/coarse-histogram.js';

function histogramOf(...values: number[]): CoarseHistogram {
  const histogram = new CoarseHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

describe('coarse histogram', () => {
  it('knows every value to within a quarter, and is never below it', () => {
    for (const value of [0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1023, 1024, 1025, 65_535, 1_000_000, 2 ** 31, 2 ** 45]) {
      const { p50, max, mean } = summaryOf(parseCoarse(histogramOf(value).text()))!;
      assert.equal(p50, max);
      assert.ok(p50 >= value && p50 <= value * 1.25, `${value} became ${p50}`);
      assert.equal(mean, value);
    }
  });

  it('clamps what lies outside', () => {
    const { sum, buckets } = parseCoarse(histogramOf(-5, 0.9, 2 ** 52).text());
    assert.equal(sum, 2 ** 52);
    assert.deepEqual([...buckets.values()], [2, 1]);
  });

  it('gives what came between two readings, whatever was before', () => {
    const histogram = histogramOf(...Array<number>(1000).fill(5000));
    const before = parseCoarse(histogram.text());
    for (let count = 0; count < 98; count++) histogram.record(1);
    histogram.record(2);
    histogram.record(1000);
    const between = coarseBetween(before, parseCoarse(histogram.text()));
    assert.equal(between.sum, 98 + 2 + 1000);
    assert.deepEqual(summaryOf(between), { mean: 11, p50: 1, p99: 2, max: 1023 });
    assert.equal(summaryOf(coarseBetween(before, before)), undefined);
  });

  it('refuses text that is none', () => {
    for (const text of ['', 'x', '1 2', '1 2:', '1  2:3', '-1 2:3']) assert.throws(() => parseCoarse(text), text);
  });
});
