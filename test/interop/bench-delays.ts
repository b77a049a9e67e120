import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { targetsOf } from '../../cli/bench/prepare.js';
import { processStats } from '../../cli/bench/process-stats.js';
import type { DelayShape, MessageShape } from '../../cli/bench/send-frames.js';
import { SendLoad } from '../../cli/bench/send-load.js';
import { settled } from '../../cli/bench/settled.js';
import { AdminClient } from '../../client/index.js';
import { systemClock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import { median } from './bench/figures.js';
import { endLivingServers, startTarget, type Target } from './support/target.js';

const usage = 'usage: npm run bench:delays -- [--pending 1000000] [--turns 3]\n';
const options = { mappedFileSizeCommitLog: 1024 ** 3, maxHashSlotNum: 5_000_000, maxIndexNum: 20_000_000 };
const HOUR_MS = 3_600_000;
const shape: MessageShape = {
  form: 'binary',
  bodyBytes: 128,
  perRequest: 1,
  keys: false,
  tags: [],
  properties: 0,
  oneWay: false,
};
/** What pending messages are compared with: as many plain ones in a store of their own. */
const kinds: readonly (readonly [name: string, delay: DelayShape | undefined])[] = [
  ['plain messages', undefined],
  ['of level 18 (2 h)', { level: 18, aheadMs: 2 * HOUR_MS }],
  ['with times from 1 to 24 h ahead', { aheadMs: HOUR_MS, spreadMs: 23 * HOUR_MS }],
];
/** After so long a broker has read what it keeps in mind, and V8 has given back what it used for that. */
const SETTLE_MS = 5000;

/** What many pending messages cost this broker: memory while they are taken and after a start, and time of a start. */
async function main(): Promise<void> {
  const settings = settingsFrom(process.argv.slice(2));
  if (settings === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-bench-delays-'));
  try {
    for (const [name, delay] of kinds) {
      const storeDir = join(folder, 'store');
      process.stdout.write(`\n== ${settings.pending.toLocaleString('en-US')} ${name} ==\n`);
      await one(storeDir, delay, settings);
      rmSync(storeDir, { recursive: true, force: true });
    }
  } finally {
    await endLivingServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Settings {
  readonly pending: number;
  /** Starts of each kind. */
  readonly turns: number;
}

function settingsFrom(args: string[]): Settings | undefined {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args, options: { pending: text, turns: text } });
    const { pending = '1000000', turns = '3' } = values;
    if (![pending, turns].every((value) => /^[1-9]\d{0,8}$/.test(value))) return undefined;
    return { pending: Number(pending), turns: Number(turns) };
  } catch {
    return undefined;
  }
}

async function one(storeDir: string, delay: DelayShape | undefined, { pending, turns }: Settings): Promise<void> {
  let target = await startTarget({ kind: 'kernel', options, storeDir });
  const idle = await memory(target);
  const began = systemClock.monoMs();
  await fill(target, delay, pending);
  const seconds = (systemClock.monoMs() - began) / 1000;
  report('sent and dispatched', [seconds], 's');
  report('RssAnon idle, before', [idle], 'MiB');
  report('RssAnon after', [await memory(target)], 'MiB');
  for (const how of ['stop', 'kill9'] as const) {
    const took: number[] = [];
    const anon: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      await target[how]();
      const startedMs = systemClock.monoMs();
      target = await startTarget({ kind: 'kernel', options, storeDir });
      took.push(systemClock.monoMs() - startedMs);
      anon.push(await memory(target));
    }
    const what = how === 'stop' ? 'a clean end' : 'kill -9';
    report(`start after ${what}`, took, 'ms');
    report(`RssAnon after that start`, anon, 'MiB');
  }
  await target.kill9();
}

function report(what: string, values: readonly number[], unit: string): void {
  const all = values.map((value) => value.toFixed(value >= 100 ? 0 : 1)).join(', ');
  process.stdout.write(`${what}: ${median(values)!.toFixed(1)} ${unit}${values.length > 1 ? ` of ${all}` : ''}\n`);
}

async function memory(target: Target): Promise<number> {
  await settled(() => false, SETTLE_MS);
  return (processStats(target.brokerPid)?.rssAnonBytes ?? Number.NaN) / 2 ** 20;
}

/** All of them, and until the broker has dispatched them. */
async function fill(target: Target, delay: DelayShape | undefined, count: number): Promise<void> {
  const side = { address: target.broker, direct: true };
  const wish = { topics: ['bench-delays'], queues: 8, use: 'write', progress: () => undefined } as const;
  const targets = await targetsOf(side, wish);
  const delayed = delay === undefined ? shape : { ...shape, delay };
  const load = await SendLoad.open({ targets, shape: delayed, connections: 2, window: 64 }, systemClock);
  const admin = new AdminClient({ namesrvAddr: target.namesrv });
  try {
    load.start();
    await Promise.race([load.finished, settled(() => load.counters.messages >= count, Infinity)]);
    await load.stop();
    if (load.counters.errors.size > 0)
      throw new Error(
        `sends were refused: ${[...load.counters.errors].map(([code, times]) => `${times} × code ${code}`).join(', ')}`,
      );
    while (Number((await admin.brokerRuntimeInfo(target.broker)).get('dispatchBehindBytes')) > 0)
      await settled(() => false, 100);
  } finally {
    await admin.close();
    await load.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
