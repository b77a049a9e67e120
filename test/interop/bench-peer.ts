import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../kernel/base/errors.js';
import { Brokers, brokerJvmFlags } from './bench/brokers.js';
import { bestTopologies, type Figure } from './bench/figures.js';
import { benchOne } from './bench/kernel-bench.js';
import { bestTopologyGoal, loadRows } from './bench/load-rows.js';
import type { Row } from './bench/row.js';
import { settingsFrom, type Settings } from './bench/settings.js';
import { startRows } from './bench/start-rows.js';
import { figureLine, markdownTable, plainTable } from './bench/table.js';
import { javaClasspath, requireJava } from './support/java.js';
import { endLivingServers, serverLogTails, type Target } from './support/target.js';

const rows: readonly Row[] = [...startRows, ...loadRows];
const WARM_UP_SECONDS = 4;
const WARM_UP_ROUNDS_MAX = 8;
/** A round that is not so much faster than the last one was the last. */
const WARM_UP_GAIN = 1.1;

const usage = [
  'usage: npm run bench:peer -- [--seconds 6] [--turns 3] [--only row,row] [--json FOLDER] [--markdown FILE]',
  'rows:',
  ...rows.map(({ name, about }) => `  ${name.padEnd(22)}${about}`),
  '',
].join('\n');

/**
 * Gives the same loads to our broker (A) and to the real 4.9.7 (B) in turns, one load at a time, and closes with a table of the
 * medians against the goals. The broker that is not under load idles meanwhile.
 */
async function main(): Promise<void> {
  const settings = settingsOrUsage(process.argv.slice(2));
  if (settings === undefined) return;
  requireJava();
  await javaClasspath(); // may fetch the jars: no start's time
  process.stdout.write(`${machine()}\nA is this broker, B RocketMQ 4.9.7 with ${brokerJvmFlags.join(' ')}\n`);
  const brokers = new Brokers(warmUp);
  const figures: Figure[] = [];
  const failed: string[] = [];
  try {
    for (const row of rows.filter(({ name }) => settings.only.length === 0 || settings.only.includes(name))) {
      process.stdout.write(`\n== ${row.name}: ${row.about} ==\n$ ${again(row.name, settings)}\n`);
      try {
        const found = await row.run({ settings, brokers });
        for (const figure of found) process.stdout.write(`${figureLine(figure)}\n`);
        figures.push(...found);
      } catch (error) {
        // The other rows tell something all the same; what broke may be a broker.
        failed.push(`row ${row.name} failed: ${messageOf(error)}`);
        process.stdout.write(`${failed.at(-1)}\n${serverLogTails()}\n`);
        await brokers.stop();
      }
    }
  } finally {
    await brokers.stop();
    await endLivingServers();
  }
  report([...figures, ...bestTopologies(figures, bestTopologyGoal)], failed, settings);
}

/**
 * A JVM compiles what runs hot for a long time on few cores: the same load again until it is no faster than the last time. Each
 * measured turn warms up its own path once more.
 */
async function warmUp(target: Target): Promise<void> {
  const command = { kind: 'produce', args: ['-t', 'peer-warm-up', '--queues', '8'], warmSeconds: 0 } as const;
  let before = 0;
  for (let round = 0; round < WARM_UP_ROUNDS_MAX; round++) {
    const [run] = await benchOne({ ...command, seconds: WARM_UP_SECONDS }, target);
    const rate = run?.messagesPerSecond ?? 0;
    if (rate < before * WARM_UP_GAIN) return;
    before = rate;
  }
}

function report(figures: readonly Figure[], failed: readonly string[], settings: Settings): void {
  const { turns, seconds, json, markdown } = settings;
  process.stdout.write(`\nmedians of ${turns} turns of ${seconds} s\n${plainTable(figures)}\n`);
  for (const line of failed) process.stdout.write(`${line}\n`);
  if (failed.length > 0) process.exitCode = 1;
  if (json !== undefined) {
    const all = { machine: machine(), settings, figures, failed };
    mkdirSync(json, { recursive: true });
    writeFileSync(join(json, 'figures.json'), `${JSON.stringify(all, null, 2)}\n`);
  }
  if (markdown === undefined) return;
  const above = `${machine()}; medians of ${turns} turns of ${seconds} s; B with \`${brokerJvmFlags.join(' ')}\`.`;
  const command = `    npm run bench:peer -- --seconds ${seconds} --turns ${turns}${only(settings.only)}`;
  writeFileSync(markdown, `${above}\n\n${command}\n\n${[markdownTable(figures), ...failed].join('\n')}\n`);
}

function again(row: string, { seconds, turns }: Settings): string {
  return `npm run bench:peer -- --seconds ${seconds} --turns ${turns}${only([row])}`;
}

function only(names: readonly string[]): string {
  return names.length === 0 ? '' : ` --only ${names.join(',')}`;
}

function machine(): string {
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, ${gibibytes} GiB, Node ${process.version}`;
}

function settingsOrUsage(args: string[]): Settings | undefined {
  try {
    return settingsFrom(
      args,
      rows.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
