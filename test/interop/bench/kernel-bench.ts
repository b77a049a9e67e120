import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRun } from '../../../cli/bench/bench.js';
import type { LoadKind } from '../../../cli/bench/settings.js';
import { kernelMain } from '../support/servers.js';
import type { Target } from '../support/target.js';
import type { Pair } from './brokers.js';

export interface BenchCommand {
  readonly kind: LoadKind;
  readonly args: readonly string[];
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly turns: number;
}

/**
 * One `kernel bench` over both sides in turns (A B A B); its own lines are printed. Returns its runs. `name` is the file's name
 * in `jsonFolder`.
 */
export async function benchPair(
  command: BenchCommand,
  { ours, theirs }: Pair,
  name: string,
  jsonFolder: string | undefined,
): Promise<BenchRun[]> {
  const peer = ['--peer', theirs.namesrv, '--peer-pid', String(theirs.brokerPid), '--turns', String(command.turns)];
  if (jsonFolder === undefined)
    return inTemporary((folder) => runBench(command, ours, peer, join(folder, 'runs.json')));
  mkdirSync(jsonFolder, { recursive: true });
  return runBench(command, ours, peer, join(jsonFolder, `${name}.json`));
}

/** One run on one side: to fill a topic, to warm a broker up, or of what the other side cannot do. */
export function benchOne(command: Omit<BenchCommand, 'turns'>, target: Target): Promise<BenchRun[]> {
  process.stdout.write(target.kind === 'kernel' ? '# this broker\n' : '# RocketMQ 4.9.7\n');
  return inTemporary((folder) => runBench(command, target, [], join(folder, 'runs.json')));
}

async function inTemporary<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-bench-peer-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runBench(
  command: Omit<BenchCommand, 'turns'>,
  side: Target,
  more: readonly string[],
  jsonFile: string,
): Promise<BenchRun[]> {
  const { kind, args, seconds, warmSeconds } = command;
  const all = [
    ...['bench', kind, '-n', side.namesrv, '--pid', String(side.brokerPid)],
    ...['-d', String(seconds), '--warm', String(warmSeconds), ...args, ...more],
  ];
  process.stdout.write(`$ kernel ${all.join(' ')}\n`);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [kernelMain, ...all, '--json', jsonFile], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) return resolve();
      reject(new Error(`kernel bench ${kind} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
  return (JSON.parse(readFileSync(jsonFile, 'utf8')) as { runs: BenchRun[] }).runs;
}
