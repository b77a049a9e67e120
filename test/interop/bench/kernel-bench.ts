import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRun } from '../../../cli/bench/bench.js';
import { kernelMain } from '../support/servers.js';
import type { Target } from '../support/target.js';
import type { Pair } from './brokers.js';

export interface BenchCommand {
  readonly kind: 'produce' | 'batch' | 'consume' | 'latency';
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
  const folder = jsonFolder ?? mkdtempSync(join(tmpdir(), 'mqkernel-bench-peer-'));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  const peer = ['--peer', theirs.namesrv, '--peer-pid', String(theirs.brokerPid), '--turns', String(command.turns)];
  try {
    await runBench(command, ours, [...peer, '--json', file]);
    return (JSON.parse(readFileSync(file, 'utf8')) as { runs: BenchRun[] }).runs;
  } finally {
    if (jsonFolder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** One run on one side, of which nothing is kept: to fill a topic, or to warm a broker up. */
export function benchOne(command: Omit<BenchCommand, 'turns'>, target: Target): Promise<void> {
  return runBench(command, target, []);
}

function runBench(command: Omit<BenchCommand, 'turns'>, side: Target, more: readonly string[]): Promise<void> {
  const { kind, args, seconds, warmSeconds } = command;
  const all = [
    ...['bench', kind, '-n', side.namesrv, '--pid', String(side.brokerPid)],
    ...['-d', String(seconds), '--warm', String(warmSeconds), ...args, ...more],
  ];
  process.stdout.write(`$ kernel ${all.join(' ')}\n`);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [kernelMain, ...all], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) return resolve();
      reject(new Error(`kernel bench ${kind} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
