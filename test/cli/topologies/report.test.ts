import assert from 'node:assert/strict';
import { advise } from '../../../cli/bench/topologies/advice.js';
import { html, type Report } from '../../../cli/bench/topologies/html.js';
import { phases } from '../../../cli/bench/topologies/phases.js';
import { namedTopologies } from '../../../cli/bench/topologies/settings.js';
import { spreadOf, summaries } from '../../../cli/bench/topologies/summary.js';
import { barChart, pointChart } from '../../../cli/bench/topologies/svg.js';
import { settingsText, tables } from '../../../cli/bench/topologies/table.js';
import { runOf, turnsOf } from './support.js';

const occupancy = { mean: 2.5, p50: 1, p99: 2048, max: 4096 };
const full = {
  threadCpuMicros: { other: 1000, commitlog: 2000, main: 4000 },
  wakeUps: { main: 10, commitlog: 30 },
  loopDelayMicros: occupancy,
  ringUnits: occupancy,
  ringBytes: occupancy,
};
const runs = [
  ...turnsOf('dedicated', [1000, 1200, 1100], { figures: full }),
  ...turnsOf('<fused> & "co"', [900, 905, 910], { figures: { threadCpuMicros: {}, wakeUps: {} } }),
  ...turnsOf('dedicated', [5, 6, 7], { phase: 'consume' }),
  ...turnsOf('<fused> & "co"', [5, 6, 7], { phase: 'consume', errors: { 14: 3 } }),
];

function reportOf(): Report {
  const summed = summaries(runs);
  return {
    machine: { cpus: 2, cpuModel: 'Some <CPU>', memoryBytes: 2 ** 33, platform: 'linux x64', node: 'v20' },
    settings: {
      topologies: namedTopologies([]),
      phases,
      load: {
        bodyBytes: 128,
        window: 64,
        connections: 1,
        perBatch: 32,
        perSecond: 5000,
        firstLevelMs: 1000,
        form: 'binary',
        seconds: 1,
        warmSeconds: 0,
      },
      turns: 3,
      brokerSet: ['flushDiskType=SYNC_FLUSH'],
      storeParent: '/tmp',
      jsonFile: undefined,
      htmlFile: undefined,
    },
    runs,
    summaries: summed,
    advice: advise(summed, 3),
  };
}

/** Opening and closing tags in order; throws on what is no XML. Returns the names of all elements. */
function elementsOf(document: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  for (const [tag, end, name, attributes, empty] of document.matchAll(
    /<(?!!)(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z][\w-]*="[^"<]*")*)(\/?)>/g,
  )) {
    if (end === '/') assert.equal(open.pop(), name, `${tag} closes another element`);
    else {
      names.push(name!);
      if (empty !== '/') open.push(name!);
    }
    assert.ok(end === '' || attributes === '');
  }
  assert.deepEqual(open, []);
  const text = document.replace(/<(?!!)\/?[a-z][^<>]*>/g, '').replace('<!DOCTYPE html>', '');
  assert.ok(!text.includes('<'), `no tag: ${text.slice(text.indexOf('<'), text.indexOf('<') + 40)}`);
  assert.doesNotMatch(text, /&(?!#?\w+;)/);
  return names;
}

describe('report on topologies', () => {
  it('sums up turns by medians, threads in order', () => {
    const [first, second] = summaries(runs);
    assert.deepEqual(first!.rate, { median: 1100, min: 1000, max: 1200 });
    assert.deepEqual(Object.keys(first!.threadCpu), ['commitlog', 'main', 'other']);
    assert.equal(first!.threadCpu.main!.median, 4000 / 1100);
    assert.equal(first!.wakeUps.commitlog!.median, (30 * 1000) / 1100);
    assert.deepEqual(first!.ringKibibytes, { mean: 2.5 / 1024, p50: 1 / 1024, p99: 2, max: 4 });
    assert.equal(second!.loopDelayMicros, undefined);
    assert.deepEqual(spreadOf([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 });
  });

  it('takes the largest maximum of all turns, and the median of the rest', () => {
    const of = (max: number) => ({ ...full, ringUnits: { mean: max, p50: max, p99: max, max } });
    const [summary] = summaries([1, 9, 5].map((max, index) => runOf({ turn: index + 1, figures: of(max) })));
    assert.deepEqual(summary!.ringUnits, { mean: 5, p50: 5, p99: 5, max: 9 });
  });

  it('has a table for each phase with a column for each topology', () => {
    const text = tables(summaries(runs));
    const cells = (line: string): string[] =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim());
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map(cells);
    assert.deepEqual(lines[0], ['produce', 'dedicated', '<fused> & "co"']);
    const row = (name: string): string[] => lines.find(([first]) => first === name)!.slice(1);
    assert.deepEqual(row('messages/s'), ['1,100 (1,000–1,200)', '905 (900–910)']);
    assert.deepEqual(row('commitlog'), ['1.82', '–']);
    assert.deepEqual(row('loop delay µs p50/p99/max'), ['1.00 / 2,048 / 4,096', '–']);
    assert.deepEqual(row('ring units mean/p99/max'), ['2.50 / 2,048 / 4,096', '–']);
    assert.deepEqual(row('refused requests'), ['0', '9.00']);
    assert.equal(lines.filter(([first]) => first === 'consume').length, 1);
  });

  it('prints the script that runs', () => {
    const { settings, machine } = reportOf();
    const text = settingsText(settings, machine);
    assert.match(text, /^topology dedicated: main and commitlog, flush, reput/m);
    assert.match(text, /^topology paired: main and writer \(commitlog, flush\)/m);
    assert.match(text, /^phase batch: batches of 32 × 128 bytes, 64 in flight$/m);
    assert.match(text, /3 turns; brokers with flushDiskType=SYNC_FLUSH$/m);
  });

  it('is one well-formed file of its own', () => {
    const document = html(reportOf());
    const names = elementsOf(document);
    assert.equal(names.filter((name) => name === 'svg').length, 2 * 8, 'eight charts for each phase');
    assert.equal(names.filter((name) => name === 'table').length, 2);
    assert.ok(names.includes('circle') && names.includes('rect'));
    for (const outside of [/https?:/i, /<script/i, /<link/i, /\bsrc=/i, /\bhref=/i, /url\(/i, /@import/i])
      assert.doesNotMatch(document, outside);
    assert.ok(document.includes('Some &#60;CPU&#62;'));
    assert.ok(!document.includes('<fused>'));
    assert.doesNotMatch(document, /NaN|undefined|Infinity/);
  });

  it('draws bars to scale, and marks for single turns', () => {
    const rows = [
      {
        label: 'a',
        parts: [
          { name: 'x', value: 30 },
          { name: 'y', value: 10 },
        ],
      },
      {
        label: 'b',
        parts: [
          { name: 'x', value: 20 },
          { name: 'y', value: 0 },
        ],
        marks: [10, 20],
      },
    ];
    const svg = barChart(rows, String);
    const widths = [...svg.matchAll(/<rect x="[\d.]+" y="\d+" width="([\d.]+)" height="16"/g)].map((match) =>
      Number(match[1]),
    );
    assert.deepEqual(
      widths.map((width) => width / widths[0]!).map((share) => share.toFixed(2)),
      ['1.00', '0.33', '0.67', '0.00'],
    );
    assert.equal(svg.match(/class="run"/g)!.length, 2);
    elementsOf(svg);
    elementsOf(barChart([{ label: 'nothing', parts: [{ name: '', value: 0 }] }], String));
  });

  it('draws points on a logarithmic scale', () => {
    const points = [1, 10, 100, 1000].map((value) => ({ name: `p${value}`, value }));
    const svg = pointChart([{ label: 'a', points }], String);
    const xs = [...svg.matchAll(/cx="([\d.]+)"/g)].map((match) => Number(match[1]));
    assert.equal(xs.length, 4);
    for (const index of [1, 2, 3]) assert.ok(Math.abs(xs[index]! - xs[index - 1]! - (xs[1]! - xs[0]!)) < 0.2);
    elementsOf(svg);
  });
});
