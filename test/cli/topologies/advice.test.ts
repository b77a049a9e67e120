import assert from 'node:assert/strict';
import { advise, type Advice } from '../../../cli/bench/topologies/advice.js';
import type { TopologyRun } from '../../../cli/bench/topologies/run.js';
import { summaries } from '../../../cli/bench/topologies/summary.js';
import { turnsOf } from './support.js';

const adviceOn = (...runs: TopologyRun[][]): Advice => {
  const all = runs.flat();
  return advise(summaries(all), Math.max(...all.map(({ turn }) => turn)));
};

describe('advice on topologies', () => {
  it('takes the highest rate when it is more than noise, and says the figures', () => {
    const advice = adviceOn(
      turnsOf('dedicated', [1000, 1010, 990]),
      turnsOf('fused', [1300, 1280, 1310], { p99: 90, cpu: 4 }),
      turnsOf('paired', [1100, 1110, 1090]),
    );
    assert.equal(advice.topology, 'fused');
    assert.equal(advice.withinNoise, false);
    assert.equal(
      advice.text,
      'Take fused on this machine: it has the highest rates. Against dedicated: produce 1,300/s (+30 %), p99 90.0 µs (−10 %), CPU 4.00 µs/message (−20 %). Turns of one topology differ by 2 % in rate.',
    );
  });

  it('compares dedicated with the next one when dedicated is the best', () => {
    const advice = adviceOn(
      turnsOf('fused', [700, 710]),
      turnsOf('dedicated', [1000, 1010]),
      turnsOf('paired', [800, 810]),
    );
    assert.equal(advice.topology, 'dedicated');
    assert.match(advice.text, /^Take dedicated on this machine: it has the highest rates\. Against paired: /);
  });

  it('names the default when all rates are within the noise between turns', () => {
    const advice = adviceOn(
      turnsOf('dedicated', [1000, 1100, 900]),
      turnsOf('fused', [1050, 1150, 950]),
      turnsOf('paired', [990, 1000, 1010]),
    );
    assert.equal(advice.topology, 'dedicated');
    assert.equal(advice.withinNoise, true);
    assert.match(advice.text, /^Take dedicated, the default: .*\(fused \+5 %, paired \+0 %\).* 19 % /);
  });

  it('keeps the default when the fastest is within the noise, though another is far behind', () => {
    const advice = adviceOn(
      turnsOf('dedicated', [1000, 1100, 900]),
      turnsOf('fused', [1050, 1150, 950]),
      turnsOf('paired', [400, 410, 420]),
    );
    assert.equal(advice.topology, 'dedicated');
    assert.equal(advice.withinNoise, true);
    assert.match(advice.text, /it is the default, and fused is not faster by more than the noise\. Against fused: /);
  });

  it('takes rates from phases whose rate is not given, and latency and cost from all', () => {
    const paced = { phase: 'latency', paced: true };
    const advice = adviceOn(
      turnsOf('dedicated', [1000, 1100, 900]),
      turnsOf('dedicated', [500, 500, 500], paced),
      turnsOf('fused', [1050, 1150, 950]),
      turnsOf('fused', [500, 500, 500], { ...paced, p99: 99 }),
    );
    assert.ok(advice.noise! > 0.18, `${advice.noise}: a given rate says nothing about noise`);
    assert.equal(advice.topology, 'dedicated');
    const late = adviceOn(
      turnsOf('dedicated', [1000, 1000]),
      turnsOf('dedicated', [500, 500], { ...paced, p99: 250 }),
      turnsOf('fused', [990, 990]),
      turnsOf('fused', [500, 500], paced),
    );
    assert.equal(late.topology, 'fused', 'a p99 from send to consumer 2.5 times as long decides');
  });

  it('says when the machine was too restless for an answer', () => {
    const restless = adviceOn(turnsOf('dedicated', [1000, 1400, 900]), turnsOf('fused', [1000, 1400, 900]));
    assert.match(restless.text, / 50 % by which turns of one topology do\. That is much: repeat it/);
    const calm = adviceOn(turnsOf('dedicated', [1000, 1100, 900]), turnsOf('fused', [1000, 1100, 900]));
    assert.doesNotMatch(calm.text, /That is much/);
  });

  it('leaves the default within the noise for one that costs much less', () => {
    const advice = adviceOn(turnsOf('dedicated', [1000, 1100, 900]), turnsOf('fused', [1050, 1150, 950], { cpu: 3.9 }));
    assert.equal(advice.topology, 'fused');
  });

  for (const [what, wish] of [
    ['p99', { p99: 151 }],
    ['CPU', { cpu: 6.3 }],
  ] as const)
    it(`does not take the fastest when its ${what} is much worse than that of one nearly as fast`, () => {
      const advice = adviceOn(
        turnsOf('fused', [1100, 1100], wish),
        turnsOf('paired', [1000, 1000]),
        turnsOf('dedicated', [500, 500]),
      );
      assert.equal(advice.topology, 'paired');
      assert.match(
        advice.text,
        /its rates are −9 % against those of fused, whose p99 or CPU per message is much worse\. Against fused: /,
      );
    });

  it('takes the fastest all the same when the others are much slower, or no better', () => {
    assert.equal(adviceOn(turnsOf('fused', [1000], { p99: 200 }), turnsOf('dedicated', [800])).topology, 'fused');
    assert.equal(adviceOn(turnsOf('fused', [1000], { p99: 149 }), turnsOf('dedicated', [900])).topology, 'fused');
    const mixed = adviceOn(turnsOf('fused', [1000], { p99: 200 }), turnsOf('dedicated', [900], { cpu: 7 }));
    assert.equal(mixed.topology, 'fused', 'half the p99 for much more CPU is no gain');
  });

  it('weighs the phases alike, whatever their rates', () => {
    const advice = adviceOn(
      turnsOf('dedicated', [1000], { phase: 'produce' }),
      turnsOf('dedicated', [1_000_000], { phase: 'batch' }),
      turnsOf('fused', [2000], { phase: 'produce' }),
      turnsOf('fused', [900_000], { phase: 'batch' }),
    );
    assert.equal(advice.topology, 'fused');
  });

  it('says that one turn shows no noise, and that refused requests are no comparison', () => {
    const one = adviceOn(turnsOf('dedicated', [1000]), turnsOf('fused', [1001], { errors: { 2: 1234 } }));
    assert.equal(one.noise, undefined);
    assert.equal(one.topology, 'fused');
    assert.match(one.text, /One turn shows no noise: give --turns 3/);
    assert.match(one.text, /Requests were refused \(fused produce 1,234\)/);
  });
});
