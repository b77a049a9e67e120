import { mkdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { processStats } from '../../cli/bench/process-stats.js';
import { systemClock } from '../../kernel/base/clock.js';
import { requireJava } from './support/java.js';
import { kernelMain } from './support/servers.js';
import { startTarget, type Target, type TargetKind } from './support/target.js';

/** As RocketMQ's own scripts start a broker, in sizes that fit a small machine. */
const brokerJvmFlags = ['-Xms2g', '-Xmx2g', '-XX:+UseG1GC', '-XX:MaxDirectMemorySize=2g'];
/** 4.9's defaults, which the suite's small stores do not use. */
const options = { mappedFileSizeCommitLog: 1024 ** 3, maxHashSlotNum: 5_000_000, maxIndexNum: 20_000_000 };
const queues = '8';

interface Settings {
  readonly seconds: string;
  readonly turns: string;
  /** Folder for one JSON file per load. */
  readonly json: string | undefined;
}

const usage = 'usage: npm run bench:peer -- [--seconds 10] [--turns 2] [--json FOLDER]\n';

/**
 * Gives the same loads to our broker (A) and to the real 4.9.7 (B) in turn: single sends, batches, and pulls of the
 * backlog that the batches left. Before them: how long each takes to start, and its memory when idle.
 */
async function main(): Promise<void> {
  const settings = settingsFrom(process.argv.slice(2));
  if (settings === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  requireJava();
  const targets: Target[] = [];
  try {
    for (const kind of ['kernel', 'jvm'] as const) targets.push(await started(kind));
    const [ours, theirs] = targets;
    if (ours === undefined || theirs === undefined) return;
    await load('produce', ['-t', 'bench-single', '--queues', queues, '-s', '128', '-w', '64'], ours, theirs, settings);
    await load('batch', ['-t', 'bench-batch', '--queues', queues, '-s', '128', '-w', '16'], ours, theirs, settings);
    await load('consume', ['-t', 'bench-batch'], ours, theirs, settings);
  } finally {
    for (const target of targets) await target.stop();
  }
}

function settingsFrom(args: string[]): Settings | undefined {
  const number = /^[1-9]\d{0,3}$/;
  try {
    const known = { seconds: { type: 'string' }, turns: { type: 'string' }, json: { type: 'string' } } as const;
    const { values } = parseArgs({ args, options: known });
    const { seconds = '10', turns = '2', json } = values;
    return number.test(seconds) && number.test(turns) ? { seconds, turns, json } : undefined;
  } catch {
    return undefined;
  }
}

async function started(kind: TargetKind): Promise<Target> {
  const beganMs = systemClock.monoMs();
  const target = await startTarget({ kind, options, jvmFlags: brokerJvmFlags });
  const tookMs = Math.round(systemClock.monoMs() - beganMs);
  const mebibytes = Math.round((processStats(target.brokerPid)?.rssAnonBytes ?? 0) / 2 ** 20);
  const name = kind === 'kernel' ? 'A kernel start' : 'B RocketMQ 4.9.7, name server then broker';
  process.stdout.write(`${name}: serves after ${tookMs} ms, ${mebibytes} MiB RssAnon idle\n`);
  return target;
}

/** One `kernel bench` over both sides; its own lines are the report. */
function load(kind: string, args: readonly string[], ours: Target, theirs: Target, settings: Settings): Promise<void> {
  const sides = ['-n', ours.namesrv, '--pid', String(ours.brokerPid)];
  const peer = ['--peer', theirs.namesrv, '--peer-pid', String(theirs.brokerPid), '--turns', settings.turns];
  if (settings.json !== undefined) mkdirSync(settings.json, { recursive: true });
  const json = settings.json === undefined ? [] : ['--json', join(settings.json, `${kind}.json`)];
  const all = [kernelMain, 'bench', kind, ...sides, ...peer, '-d', settings.seconds, ...args, ...json];
  process.stdout.write(`\n== ${kind} ==\n`);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, all, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) return resolve();
      reject(new Error(`kernel bench ${kind} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
