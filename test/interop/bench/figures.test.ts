import assert from 'node:assert/strict';
import { bestTopologies, median, ratioOf, verdict, type Figure, type Goal } from './figures.js';
import { loadFigures, type Run } from './row.js';
import { settingsFrom } from './settings.js';
import { figureLine, markdownTable, plainTable } from './table.js';

const figure = (a: number[], b: number[], more: Partial<Figure> = {}): Figure => ({
  load: 'send',
  unit: 'msg/s',
  a,
  b,
  ...more,
});
const twice: Goal = { kind: 'atLeast', ratio: 2, stretch: 2.5 };

describe('figures of the side-by-side table', () => {
  it('are medians, and the ratio is that of the medians', () => {
    assert.equal(median([9, 1, 5]), 5);
    assert.equal(median([1, 2, 10, 4]), 3);
    assert.equal(median([]), undefined);
    assert.equal(ratioOf(figure([300, 200, 900], [100, 400, 90])), 3);
    assert.equal(ratioOf(figure([1], [])), undefined);
    assert.equal(ratioOf(figure([1], [0])), undefined);
  });

  it('reach a goal, its stretch, or not', () => {
    const judged = (a: number, goal: Goal): string => verdict(figure([a], [100], { goal }));
    assert.deepEqual(
      [199, 200, 249, 250].map((a) => judged(a, twice)),
      ['no', 'yes', 'yes', 'yes, stretch too'],
    );
    const half: Goal = { kind: 'atMost', ratio: 0.5, stretch: 0.35 };
    assert.deepEqual(
      [51, 50, 35].map((a) => judged(a, half)),
      ['no', 'yes', 'yes, stretch too'],
    );
    assert.deepEqual(
      [301, 300].map((a) => verdict(figure([a], [], { goal: { kind: 'below', value: 300 } }))),
      ['no', 'yes'],
    );
    assert.equal(verdict(figure([1], [], { goal: twice })), '?');
    assert.equal(verdict(figure([1], [1])), '');
  });

  it('name the best topology of a family, when there is a choice', () => {
    const of = (name: string, topology: string, a: number): Figure =>
      figure([a], [100], { load: `${name}, ${topology}`, family: { name, topology } });
    const best = bestTopologies(
      [of('send', 'dedicated', 210), of('send', 'fused', 260), of('send', 'paired', 90), of('alone', 'dedicated', 1)],
      twice,
    );
    assert.deepEqual(
      best.map(({ load, a }) => [load, ...a]),
      [['send, best topology: fused', 260]],
    );
    assert.equal(best[0] && verdict(best[0]), 'yes, stretch too');
  });

  it('stand in one table, doubtful ones with the reason below', () => {
    const all = [
      figure([142_123, 1], [82_077, 1], { goal: twice }),
      figure([0.765], [1.18], { unit: 'µs', note: 'A 3 × 2' }),
    ];
    const lines = markdownTable(all).split('\n');
    assert.equal(lines[2], '| send | 71,100 msg/s | 41,000 msg/s | 1.73 | ≥ 2 ×; stretch 2.5 | no |');
    assert.equal(lines[3], '| send (!) | 0.77 µs | 1.18 µs | 0.65 |  |  |');
    assert.equal(lines[5], '(!) send: A 3 × 2');
    const plain = plainTable(all);
    for (const cell of ['71,100 msg/s', '41,000 msg/s', '1.73', 'no']) assert.ok(plain.includes(cell), cell);
    assert.equal(figureLine(all[1]!), 'send: A 0.77; B 1.18 µs; medians A / B 0.65');
  });

  it('are doubtful when a run had errors, lost something, or was sent late', () => {
    const run = (side: 'A' | 'B', more: Partial<Run> = {}): Run => ({
      side,
      messagesPerSecond: 1,
      errors: {},
      latencyMicros: { p50: 1, p99: 2, p999: 3 },
      ...more,
    });
    const runs = [run('A', { errors: { 2: 7 }, lateShare: 0.25 }), run('B', { missing: 3, unanswered: 1 }), run('A')];
    const [rate] = loadFigures('send', runs, {});
    assert.deepEqual(rate?.a, [1, 1]);
    assert.equal(rate.note, 'A 7 × answer 2, A 25.0 % sent late, B 3 messages never came, B 1 sends without an answer');
    assert.equal(loadFigures('send', [run('A', { lateShare: 0.005 }), run('B')], {})[0]?.note, undefined);
  });

  it('are those of the rows asked for', () => {
    assert.deepEqual(settingsFrom(['--only', 'start, batch', '--turns', '5'], ['start', 'batch']), {
      seconds: 6,
      turns: 5,
      only: ['start', 'batch'],
      json: undefined,
      markdown: undefined,
    });
    assert.throws(() => settingsFrom(['--only', 'strat'], ['start']), /there is no row strat; rows: start/);
    assert.throws(() => settingsFrom(['--seconds', '0'], []), /--seconds takes a whole number from 1 to 9999, not "0"/);
  });
});
