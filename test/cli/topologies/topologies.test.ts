import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { BrokerFigures } from '../../../cli/bench/topologies/figures.js';
import type { Report } from '../../../cli/bench/topologies/html.js';
import type { TopologyRun } from '../../../cli/bench/topologies/run.js';
import { topologiesSettings } from '../../../cli/bench/topologies/settings.js';
import { benchTopologies } from '../../../cli/bench/topologies/topologies.js';
import { ExitCode } from '../../../kernel/base/errors.js';
import { KernelProcess, runKernel } from '../../support/kernel-command.js';
import { tempDir } from '../../support/temp-dir.js';
import { until } from '../../support/until.js';

/** Delays need seconds for each broker: they have a test of their own. */
const PHASES = ['produce', 'batch', 'consume', 'latency', 'transactions'];
const NAMES = ['dedicated', 'fused', 'paired', 'mine'];
/** The threads of each beside main, but one for the transaction check alone: that comes soon after a first half message. */
const THREADS: Readonly<Record<string, string[]>> = {
  dedicated: ['commitlog', 'flush', 'reput', 'schedule'],
  fused: ['flush', 'background'],
  paired: ['writer', 'reader'],
  mine: ['log', 'flush', 'schedule'],
};
const load = {
  size: 64,
  window: 8,
  connections: 1,
  batch: 4,
  rate: 500,
  header: 'binary',
  seconds: 0.15,
  warm: 0.05,
} as const;

function checkFigures({ topology, figures, broker, messages, latencyMicros, phase }: TopologyRun): void {
  const where = `${topology} ${phase}`;
  // On a busy machine a time so short may pass without an answer.
  if (messages > 0) assert.ok(latencyMicros.p50 > 0 && latencyMicros.p999 >= latencyMicros.p50, where);
  assert.deepEqual(sortedThreads(figures.wakeUps), ['main', ...THREADS[topology]!].sort(), where);
  for (const key of ['loopDelayMicros', 'ringUnits', 'ringBytes'] satisfies (keyof BrokerFigures)[])
    assert.ok(figures[key] !== undefined && figures[key].max >= figures[key].p50, `${where} ${key}`);
  if (!existsSync('/proc/thread-self')) return;
  assert.deepEqual(sortedThreads(figures.threadCpuMicros), ['main', 'other', ...THREADS[topology]!].sort(), where);
  assert.ok(broker!.rssAnonMebibytes > 10, where);
}

const sortedThreads = (figures: object): string[] =>
  Object.keys(figures)
    .filter((name) => name !== 'transaction')
    .sort();

describe('kernel bench topologies', function () {
  this.timeout(120_000);

  it('gives every topology the same script in turns, and tells all figures', async () => {
    using dir = tempDir();
    const topology = join(dir.path, 'mine.json');
    writeFileSync(topology, '{"commitlog": "log", "reput": "main"}');
    const [json, page] = [join(dir.path, 'r.json'), join(dir.path, 'r.html')];
    const flags = { ...load, only: PHASES.join(), turns: 2, store: dir.path, json, html: page };
    const lines: string[] = [];
    const printer = {
      line: (text: string) => void lines.push(text),
      json: () => assert.fail('results are lines'),
      error: (error: unknown) => assert.fail(String(error)),
    };
    const progress = new PassThrough();
    await benchTopologies(topologiesSettings([topology], flags), printer, progress);

    const report = JSON.parse(readFileSync(json, 'utf8')) as Report;
    const wanted = [1, 2].flatMap((turn) => NAMES.flatMap((name) => PHASES.map((phase) => [turn, name, phase])));
    assert.deepEqual(
      report.runs.map(({ turn, topology: name, phase }) => [turn, name, phase]),
      wanted,
    );
    for (const run of report.runs) {
      assert.deepEqual(run.errors, {});
      checkFigures(run);
    }
    for (const phase of PHASES) {
      const sent = report.runs.filter((run) => run.phase === phase).map(({ messages }) => messages);
      assert.ok(Math.max(...sent) > 0, `${phase} did nothing`);
    }
    assert.equal(report.summaries.length, NAMES.length * PHASES.length);
    assert.ok(NAMES.includes(report.advice.topology));
    assert.equal(lines.at(-1), report.advice.text);
    assert.match(readFileSync(page, 'utf8'), /<\/html>\n$/);
    const told = String(progress.read()).trim().split('\n');
    assert.equal(told.length, wanted.length);
    assert.match(told[1]!, /^turn 1\/2 dedicated batch: [\d,]+ msg\/s, .* left$/);
    assert.deepEqual(readdirSync(dir.path).sort(), ['mine.json', 'r.html', 'r.json'], 'the stores are gone');
  });

  /** One turn of the presets. */
  async function runsOf(...more: string[]): Promise<Report['runs']> {
    using dir = tempDir();
    const json = join(dir.path, 'r.json');
    const args = ['--turns', '1', '--warm', '0', '--store', dir.path, '--json', json, ...more];
    const { exitCode, stderr } = await runKernel(['bench', 'topologies', ...args]);
    assert.equal(exitCode, 0, stderr);
    return (JSON.parse(readFileSync(json, 'utf8')) as Report).runs;
  }

  it('runs consume and delays without the others: what they need is there', async () => {
    const runs = await runsOf('--only', 'consume,delays', '--seconds', '0.1', '--rate', '500');
    assert.deepEqual(
      runs.map((run) => [run.topology, run.phase]),
      NAMES.slice(0, 3).flatMap((name) => [
        [name, 'consume'],
        [name, 'delays'],
      ]),
    );
    for (const phase of ['consume', 'delays'])
      assert.ok(
        runs.some((run) => run.phase === phase && run.messages > 0),
        `${phase}: there was nothing to read`,
      );
    assert.ok(runs.every(({ early = 0, missing = 0 }) => early === 0 && missing === 0));
  });

  it('tells why a broker does not start', async () => {
    using dir = tempDir();
    const set = ['--set', 'haListenPort=1', '--set', 'ringBytes=1', '--store', dir.path];
    const { exitCode, stderr } = await runKernel(['bench', 'topologies', ...set]);
    assert.equal(exitCode, ExitCode.failed);
    assert.match(stderr, /BENCH_BROKER: the broker did not start \(2\).*ringBytes/s);
    assert.deepEqual(readdirSync(dir.path), []);
  });

  it('stops its broker and deletes the store when it is told to end', async () => {
    using dir = tempDir();
    const command = new KernelProcess(['bench', 'topologies', '--store', dir.path, '--seconds', '60']);
    const ready = (): string | undefined =>
      readdirSync(dir.path)
        .map((name) => join(dir.path, name, 'ready.json'))
        .find((path) => existsSync(path));
    await until(() => ready() !== undefined, 'a broker serves', 20_000);
    const { pid } = JSON.parse(readFileSync(ready()!, 'utf8')) as { pid: number };
    command.signal('SIGTERM');
    assert.equal(await command.end(), ExitCode.failed);
    assert.match(command.stderr, /BENCH_STOPPED: stopped by SIGTERM/);
    assert.deepEqual(readdirSync(dir.path), []);
    assert.throws(() => process.kill(pid, 0), 'its broker is gone');
  });
});
