import assert from 'node:assert/strict';
import type { BenchRun } from '../../cli/bench/bench.js';
import { median, mediansOf, ratiosOf } from '../../cli/bench/compare.js';
import { inParallel } from '../../cli/bench/in-parallel.js';
import { checkOpenFiles } from '../../cli/bench/open-files.js';
import { medianLine, ratioLine, resultLines, settingsLine } from '../../cli/bench/report.js';
import { benchSettings, topicNames, type BenchFlags } from '../../cli/bench/settings.js';
import { sharesOf } from '../../cli/bench/shares.js';

const run = (side: 'A' | 'B', rate: number, cpu?: number): BenchRun => ({
  side,
  address: 'here:1',
  messages: 10,
  seconds: 1,
  messagesPerSecond: rate,
  mebibytesPerSecond: 1,
  latencyMicros: { p50: 10, p90: 15, p99: 20, p999: 30, max: 40, mean: 11 },
  errors: {},
  generatorCpuMicrosPerMessage: 1,
  ...(cpu === undefined ? {} : { broker: { cpuMicrosPerMessage: cpu, rssAnonMebibytes: 0 } }),
});

describe('bench comparison', () => {
  it('takes the middle', () => {
    assert.equal(median([9, 1, 5]), 5);
    assert.equal(median([4, 1, 3, 100]), 3.5);
    assert.equal(median([7]), 7);
  });

  it('compares medians, not means', () => {
    const runs = [
      run('A', 100, 1),
      run('B', 50, 4),
      run('A', 1000, 3),
      run('B', 40, 4),
      run('A', 120, 2),
      run('B', 60, 9),
    ];
    const { A, B } = mediansOf(runs);
    assert.deepEqual([A?.messagesPerSecond, B?.messagesPerSecond], [120, 50]);
    assert.deepEqual([A?.brokerCpuMicrosPerMessage, B?.brokerCpuMicrosPerMessage], [2, 4]);
    const ratios = ratiosOf(A!, B!);
    assert.deepEqual([ratios.messagesPerSecond, ratios.p99, ratios.brokerCpuMicrosPerMessage], [2.4, 1, 0.5]);
    assert.equal(ratios.brokerRssAnonMebibytes, undefined, 'nothing is a multiple of nothing');
    assert.match(medianLine('A', 3, A!), /^A medians of 3: {2}msg\/s 120 .*p99\.9 30 .*broker CPU\/msg 2\.00/);
    assert.match(ratioLine(ratios), /^A \/ B: {2}msg\/s 2\.40 .*p99 1\.00 .*broker CPU\/msg 0\.50/);
  });

  it('leaves out what not every run knows', () => {
    const { A } = mediansOf([run('A', 1, 1), run('A', 2)]);
    assert.equal(A?.messagesPerSecond, 1.5);
    assert.ok(!('brokerCpuMicrosPerMessage' in A!));
    assert.ok(!('sendP50' in A!));
  });

  it('says what went wrong, and only then', () => {
    const send = { p50: 1, p90: 2, p99: 3, p999: 4, max: 5 };
    const fine = { ...run('A', 1), sendLatencyMicros: send, lateShare: 0.01, missing: 0, unanswered: 0 };
    assert.equal(resultLines(fine).length, 2);
    const bad = resultLines({ ...fine, lateShare: 0.011, missing: 3, unanswered: 4 }).join('\n');
    assert.match(bad, /COULD NOT KEEP THE RATE: 1\.1 %/);
    assert.match(bad, /3 acknowledged messages never came/);
    assert.match(bad, /4 sends were never answered/);
    const dropped = resultLines({ ...run('A', 1), oneWay: { written: 9, stored: 7 } }).join('\n');
    assert.match(dropped, /no latencies without answers/);
    assert.match(dropped, /9 sent, 7 stored, 2 dropped/);
  });
});

describe('bench settings', () => {
  const flags: BenchFlags = {
    namesrvAddr: 'ns:9876',
    topic: 'T',
    topics: 1,
    connections: 1,
    duration: 10,
    warm: 2,
    header: 'binary',
  };

  it('turns: one, with a peer three, or what was asked for', () => {
    assert.equal(benchSettings('produce', flags).turns, 1);
    assert.equal(benchSettings('produce', { ...flags, peer: 'x:1' }).turns, 3);
    assert.equal(benchSettings('produce', { ...flags, turns: 5 }).turns, 5);
  });

  it('several topics have numbers, and queues of their own', () => {
    assert.deepEqual(topicNames({ topic: 'T', topics: 1 }), ['T']);
    const names = topicNames({ topic: 'T', topics: 1000 });
    assert.deepEqual([names.length, names[0], names[999]], [1000, 'T-0000', 'T-0999']);
    assert.equal(benchSettings('produce', flags).queues, undefined);
    assert.equal(benchSettings('produce', { ...flags, topics: 5 }).queues, 8);
    assert.equal(benchSettings('consume', { ...flags, topics: 5 }).queues, undefined, 'reading creates nothing');
  });

  it('tags are those of messages, or the filter of what is read', () => {
    assert.deepEqual(benchSettings('batch', { ...flags, tags: 'A, B' }).shape.tags, ['A', 'B']);
    const { filter } = benchSettings('consume', { ...flags, tags: 'A || B' }).pull;
    assert.deepEqual(filter, { type: 'TAG', expression: 'A || B' });
    const sql = benchSettings('consume', { ...flags, sql: 'a > 1' }).pull.filter;
    assert.deepEqual(sql, { type: 'SQL92', expression: 'a > 1' });
  });

  it('refuses what does not go together', () => {
    const refused = (kind: 'produce' | 'consume' | 'latency', wrong: Partial<BenchFlags>): void =>
      assert.throws(() => benchSettings(kind, { ...flags, ...wrong }), { code: 'BENCH_USAGE', exitCode: 2 });
    refused('produce', { duration: 0 });
    refused('consume', { duration: 0, tail: true });
    refused('consume', { tags: 'A', sql: 'a > 1' });
    refused('consume', { tail: true, tags: 'A' });
    refused('consume', { rate: 5 });
    refused('consume', { size: 5 });
    refused('consume', { queues: 5 });
    refused('latency', { size: 15 });
    refused('produce', { tags: 'A,,B' });
    assert.doesNotThrow(() => benchSettings('consume', { ...flags, duration: 0 }));
    assert.doesNotThrow(() => benchSettings('latency', { ...flags, size: 16 }));
  });

  it('say in one line what will be done', () => {
    assert.equal(
      settingsLine(benchSettings('produce', { ...flags, topics: 3, oneway: true, tags: 'A,B', properties: 2 })),
      'produce T-0000 … (3 topics): one-way 128-byte messages with tags A B, 2 properties, 1 connection × 64 in flight, binary headers, 2 s warm-up, 10 s measured',
    );
    assert.equal(
      settingsLine(benchSettings('latency', flags)),
      'latency T: 128-byte messages at 5,000/s, read at the tail with pulls of 32, 1 connection, binary headers, 2 s warm-up, 10 s measured',
    );
    assert.match(
      settingsLine(benchSettings('consume', { ...flags, duration: 0, tags: 'A' })),
      /pulls of 32, TAG A, .*once/,
    );
  });

  it('more connections than files are refused before the first is opened', () => {
    assert.throws(() => checkOpenFiles(2000, 1024), { code: 'BENCH_USAGE', remedy: /^ulimit -n 2064/ });
    assert.doesNotThrow(() => checkOpenFiles(2000, 4096));
    assert.doesNotThrow(() => checkOpenFiles(2000, undefined));
  });
});

describe('bench parts', () => {
  it('work goes on in parallel, so much at a time, and ends with the first failure', async () => {
    let atOnce = 0;
    let most = 0;
    const done: number[] = [];
    await inParallel(10, 3, async (index) => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      done.push(index);
    });
    assert.equal(most, 3);
    assert.deepEqual(
      done.sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    let begun = 0;
    const failing = inParallel(10, 2, async (index) => {
      begun++;
      await new Promise((resolve) => setImmediate(resolve));
      if (index === 1) throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.ok(begun < 10);
  });

  it('connections share the queues of their broker, and every broker has one', () => {
    const queues = Array.from({ length: 5 }, (_, queueId) => ({ topic: 'T', queueId }));
    const targets = ['a', 'b'].map((host) => ({ host, port: 1, queues }));
    const shares = (connections: number): string =>
      sharesOf(targets, connections)
        .map((share) => `${share.target.host}:${share.queues.map(({ queueId }) => queueId).join('')}`)
        .join(' ');
    assert.equal(shares(1), 'a:01234 b:01234');
    assert.equal(shares(3), 'a:024 b:01234 a:13');
    assert.equal(shares(20).split(' ').length, 10, 'one without a queue is not opened');
  });
});
