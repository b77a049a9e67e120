import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRun } from '../../cli/bench/bench.js';
import type { Figures } from '../../cli/bench/compare.js';
import { startBroker, type EmbeddedBroker } from '../../cli/embedded.js';
import { AdminClient } from '../../client/index.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { runKernel } from '../support/kernel-command.js';
import { RawClient } from '../support/raw-client.js';
import { pullAll } from '../support/send-pull.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';

interface Report {
  readonly runs: readonly BenchRun[];
  readonly medians: Readonly<Record<'A' | 'B', Figures>>;
  readonly ratios?: Figures;
}

/** Every load once, as its command runs it, against a broker in this process: what it reports is what the broker has. */
describe('kernel bench', () => {
  let broker: EmbeddedBroker;
  let admin: AdminClient;

  before(async () => {
    broker = await startBroker({ plugins: ['sql92'], options: { enablePropertyFilter: true } });
    admin = new AdminClient({ namesrvAddr: broker.namesrvAddress });
  });

  after(async () => {
    await admin.close();
    await broker.stop();
  });

  async function bench(kind: string, ...args: string[]): Promise<Report & { readonly text: string }> {
    using dir = tempDir();
    const file = join(dir.path, 'report.json');
    const all = ['bench', kind, '-n', broker.namesrvAddress, '--warm', '0', '--json', file, ...args];
    const { exitCode, stdout, stderr } = await runKernel(args.includes('-d') ? all : [...all, '-d', '1']);
    assert.equal(exitCode, 0, stderr);
    return { ...(JSON.parse(readFileSync(file, 'utf8')) as Report), text: stdout };
  }

  const one = ({ runs }: Report): BenchRun => {
    assert.equal(runs.length, 1);
    return runs[0]!;
  };

  /** How many messages the topic ever had, by queue. */
  async function stored(topic: string): Promise<number[]> {
    return (await admin.topicStats(topic)).map(([, { maxOffset }]) => maxOffset);
  }

  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

  async function tagsIn(topic: string, queues: number): Promise<(string | undefined)[]> {
    const counts = await stored(topic);
    assert.equal(counts.length, queues);
    using client = await RawClient.connect(broker.brokerAddress);
    const tags: (string | undefined)[] = [];
    for (const [queueId, count] of counts.entries())
      for (const { properties } of await pullAll(client, count, { topic, queueId }))
        tags.push(parseProperties(properties).get('TAGS'));
    return tags;
  }

  it('produce spreads over topics, and consume reads them all', async () => {
    const wish = ['-t', 'many', '--topics', '3'];
    const { messages, errors } = one(await bench('produce', ...wish, '--queues', '2', '-w', '1', '-c', '20', '--keys'));
    assert.deepEqual(errors, {});
    const counts = await Promise.all(['many-0000', 'many-0001', 'many-0002'].map(stored));
    assert.ok(counts.flat().every((count) => count > 0));
    assert.equal(counts.flat().length, 6);
    const total = sum(counts.flat());
    assert.ok(messages <= total && total <= messages + 20, `${messages} reported, ${total} stored`);
    assert.equal(one(await bench('consume', ...wish, '-d', '0')).messages, total);
  });

  for (const [kind, perRequest, ...more] of [
    ['produce', 1],
    ['batch', 3, '--batch', '3'],
  ] as const)
    it(`${kind} gives tags in turn, and consume returns only what its filter takes`, async () => {
      const topic = `tagged-${kind}`;
      const wish = ['-t', topic, '--queues', '2', '-w', '1', '--tags', 'A,B,C', '--properties', '3', ...more];
      const { messages } = one(await bench(kind, ...wish));
      const tags = await tagsIn(topic, 2);
      assert.ok(
        messages <= tags.length && tags.length <= messages + perRequest,
        `${messages} reported, ${tags.length} stored`,
      );
      const count = (...wanted: string[]): number => tags.filter((tag) => wanted.includes(tag!)).length;
      assert.ok(Math.min(count('A'), count('B'), count('C')) > tags.length / 4);
      const byTag = one(await bench('consume', '-t', topic, '-d', '0', '--tags', 'A || B'));
      assert.deepEqual([byTag.messages, byTag.scanned], [count('A', 'B'), tags.length]);
      const sql = "TAGS = 'C' AND p002 = 'value-0123'";
      const bySql = one(await bench('consume', '-t', topic, '-d', '0', '--sql', sql, '--header', 'json'));
      assert.deepEqual([bySql.messages, bySql.scanned], [count('C'), tags.length]);
    });

  it('produce --oneway counts what the broker stored of it', async () => {
    await bench('produce', '-t', 'oneway', '--queues', '2', '-w', '1');
    const before = sum(await stored('oneway'));
    const run = one(await bench('produce', '-t', 'oneway', '--oneway', '-w', '8', '-c', '2'));
    const total = run.oneWay!.stored;
    // The queues show it a moment later.
    await until(async () => sum(await stored('oneway')) - before === total, `${total} messages in the queues`);
    assert.equal(run.oneWay!.written, total, 'a broker that is not overrun drops nothing');
    assert.ok(run.messages > 0 && run.messages <= total, `${run.messages} of ${total}`);
  });

  for (const [name, args] of [
    ['consume --tail', ['consume', '--tail', '-w', '4']],
    ['consume --tail --rate', ['consume', '--tail', '--rate', '300']],
    ['latency', ['latency', '--rate', '300', '--header', 'json']],
  ] as const)
    it(`${name} reads what it sends, and nothing that was there before`, async () => {
      const topic = name.replaceAll(' ', '_');
      await bench('produce', '-t', topic, '--queues', '2', '-w', '1');
      const before = sum(await stored(topic));
      const run = one(await bench(args[0], '-t', topic, ...args.slice(1)));
      const sent = sum(await stored(topic)) - before;
      assert.ok(run.messages > 0 && run.messages <= sent, `${run.messages} of ${sent}`);
      assert.deepEqual([run.missing, run.unanswered ?? 0, run.errors], [0, 0, {}]);
      for (const { p50, p99, max } of [run.latencyMicros, run.sendLatencyMicros!])
        assert.ok(p50 > 0 && p50 <= p99 && p99 <= max);
    });

  it('transactions are there for consumers when they are counted', async () => {
    const run = one(await bench('transactions', '-t', 'committed', '--queues', '2', '-w', '4', '-c', '2'));
    const total = sum(await stored('committed'));
    assert.ok(run.messages > 0 && run.messages <= total && total <= run.messages + 8, `${run.messages} of ${total}`);
    assert.deepEqual(run.errors, {});
    assert.equal(one(await bench('consume', '-t', 'committed', '-d', '0')).messages, total);
  });

  for (const [name, ...args] of [
    ['delays of a level', '--level', '1'],
    ['delays by a timer', '--timer', '--delay', '0.3'],
  ] as const)
    it(`${name}: all come, none of them early`, async () => {
      const topic = name.replaceAll(' ', '_');
      const run = one(await bench('delays', '-t', topic, '--rate', '300', ...args));
      const total = sum(await stored(topic));
      assert.ok(run.messages > 0 && run.messages <= total, `${run.messages} of ${total}`);
      assert.deepEqual([run.missing, run.unanswered, run.early, run.repeated, run.errors], [0, 0, 0, 0, {}]);
      assert.ok(run.latencyMicros.p50 >= 1000 && run.latencyMicros.p50 <= run.latencyMicros.max);
    });

  it('latency creates its topic', async () => {
    await bench('latency', '-t', 'new-one', '--rate', '100');
    assert.equal((await stored('new-one')).length, 8);
  });

  it('takes turns with a peer, straight to the brokers, and compares medians', async () => {
    const sides = ['--broker', broker.brokerAddress, '--peer', broker.brokerAddress, '--turns', '2'];
    const { runs, medians, ratios, text } = await bench('latency', '-t', 'turns', '--rate', '100', ...sides);
    assert.deepEqual(
      runs.map(({ side }) => side),
      ['A', 'B', 'A', 'B'],
    );
    assert.equal(ratios?.p99, medians.A.p99! / medians.B.p99!);
    assert.match(text, /^A medians of 2: .*\nB medians of 2: .*\nA \/ B: /m);
  });

  it('takes turns without a peer', async () => {
    const { runs, text } = await bench('produce', '-t', 'alone', '--queues', '1', '-w', '1', '--turns', '2');
    assert.equal(runs.length, 2);
    assert.match(text, /^A medians of 2: /m);
  });

  it('says why a broker does not take a filter, or has no such topic', async () => {
    await using plain = await startBroker();
    const at = ['-n', plain.namesrvAddress];
    const run = (...args: string[]) => runKernel(['bench', ...args, ...at, '-d', '1', '--warm', '0']);
    assert.equal((await run('produce', '-t', 'T', '--queues', '1', '-w', '1')).exitCode, 0);
    const filtered = await run('consume', '-t', 'T', '--sql', 'a > 1');
    assert.equal(filtered.exitCode, 1);
    assert.match(filtered.stderr, /code 1: The broker does not support consumer to filter message by SQL92/);
    const nowhere = await run('consume', '-t', 'T', '--topics', '2');
    assert.equal(nowhere.exitCode, 1);
    assert.match(nowhere.stderr, /topic T-0000 does not exist .*kernel bench produce/);
  });
});
