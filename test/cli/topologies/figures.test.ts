import assert from 'node:assert/strict';
import { cpuBetween, FiguresProbe, tableBetween } from '../../../cli/bench/topologies/figures.js';
import { CoarseHistogram } from '../../../kernel/base/coarse-histogram.js';

describe('figures of a measured time', () => {
  it('gives each thread its CPU time, and what is left of the process to others', () => {
    const before = {
      total: 1000,
      threads: new Map([
        ['main', 500],
        ['commitlog', 100],
      ]),
    };
    const after = {
      total: 2000,
      threads: new Map([
        ['main', 900],
        ['commitlog', 300],
      ]),
    };
    assert.deepEqual(cpuBetween(before, after), { main: 400, commitlog: 200, other: 400 });
  });

  it('never shows less than nothing, and nothing at all without /proc', () => {
    const before = { total: 1000, threads: new Map([['main', 500]]) };
    const after = { total: 1010, threads: new Map([['main', 520]]) };
    assert.deepEqual(cpuBetween(before, after), { main: 20, other: 0 });
    const nothing = { total: undefined, threads: new Map<string, number>() };
    assert.deepEqual(cpuBetween(nothing, nothing), {});
  });

  it('takes the difference of what only grows, also across the wrap of a count', () => {
    const delays = new CoarseHistogram();
    delays.record(1_000_000);
    const before = new Map([
      ['kernel.wakeUps', 'main=4294967290 flush=7'],
      ['kernel.loopDelayMicros', delays.text()],
      ['putTps', '1 2 3'],
    ]);
    delays.record(3);
    const after = new Map([
      ['kernel.wakeUps', 'main=4 flush=7 reput=2'],
      ['kernel.loopDelayMicros', delays.text()],
    ]);
    assert.deepEqual(tableBetween(before, after), {
      wakeUps: { main: 10, flush: 0, reput: 2 },
      loopDelayMicros: { mean: 3, p50: 3, p99: 3, max: 3 },
    });
  });

  it('leaves out what a broker does not tell', async () => {
    const probe = new FiguresProbe(2 ** 22 + 1, () => Promise.resolve(new Map([['putTps', '1 2 3']])));
    await probe.begin();
    probe.over();
    await probe.end();
    assert.deepEqual(probe.figures, { threadCpuMicros: {}, wakeUps: {} });
  });
});
