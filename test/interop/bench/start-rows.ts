import { processStats } from '../../../cli/bench/process-stats.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { startNameServer, type Target, type TargetKind } from '../support/target.js';
import { startSide, type PairWish } from './brokers.js';
import type { Figure } from './figures.js';
import { benchOne } from './kernel-bench.js';
import type { Row } from './row.js';

const kinds: readonly TargetKind[] = ['kernel', 'jvm'];
const start: Row = {
  name: 'start',
  about: 'from the start of the process to serving, on an empty store',
  async run({ brokers, settings: { turns } }) {
    // Nothing else may run while starts are timed.
    await brokers.stop();
    return [
      await starts('start to serving, name server and broker', turns),
      await starts('start to serving, broker alone', turns, 'alone'),
    ];
  },
};

async function starts(load: string, turns: number, alone?: 'alone'): Promise<Figure> {
  const took: Record<TargetKind, number[]> = { kernel: [], jvm: [] };
  for (let turn = 0; turn < turns; turn++)
    for (const kind of kinds) {
      const namesrv = alone === undefined ? undefined : await startNameServer(kind);
      try {
        const beganMs = systemClock.monoMs();
        const target = await startSide(kind, {}, namesrv?.address);
        took[kind].push(systemClock.monoMs() - beganMs);
        await target.kill9();
      } finally {
        await namesrv?.stop();
      }
    }
  return { load, unit: 'ms', a: took.kernel, b: took.jvm, goal: { kind: 'atMost', ratio: 0.1 } };
}

/** Shorter loads do not fill the heap of either. */
const MEMORY_SECONDS_MIN = 6;
const oneGigabyte: PairWish = { jvmFlags: ['-Xmx1g', '-XX:+UseG1GC'] };
const mebibytes = (target: Target): number => (processStats(target.brokerPid)?.rssAnonBytes ?? NaN) / 2 ** 20;

interface Memory {
  readonly idle: number;
  /** The most after single sends, batches and pulls. */
  readonly loaded: number;
}

/** RssAnon of fresh brokers, in turns; only one of them is there at a time. */
async function memory(kind: TargetKind, wish: PairWish, seconds: number): Promise<Memory> {
  const target = await startSide(kind, wish);
  try {
    const idle = mebibytes(target);
    let loaded = 0;
    const common = { seconds: Math.max(seconds, MEMORY_SECONDS_MIN), warmSeconds: 0 };
    const send = ['-t', 'peer-memory', '--queues', '8', '-s', '128'];
    for (const [load, args] of [
      ['produce', [...send, '-w', '64']],
      ['batch', [...send, '-w', '16']],
      ['consume', ['-t', 'peer-memory']],
    ] as const) {
      await benchOne({ kind: load, args, ...common }, target);
      loaded = Math.max(loaded, mebibytes(target));
    }
    return { idle, loaded };
  } finally {
    await target.kill9();
  }
}

const memoryRow: Row = {
  name: 'memory',
  about: 'anonymous resident memory of fresh brokers, idle and after single sends, batches and pulls',
  async run({ brokers, settings: { turns, seconds } }) {
    await brokers.stop();
    const ours: Memory[] = [];
    const theirs: Memory[] = [];
    const small: Memory[] = [];
    for (let turn = 0; turn < turns; turn++) {
      ours.push(await memory('kernel', {}, seconds));
      theirs.push(await memory('jvm', {}, seconds));
      small.push(await memory('jvm', oneGigabyte, seconds));
    }
    const idle = (all: readonly Memory[]): number[] => all.map((one) => one.idle);
    const loaded = (all: readonly Memory[]): number[] => all.map((one) => one.loaded);
    return [
      { load: 'RssAnon idle', unit: 'MiB', a: idle(ours), b: idle(theirs) },
      { load: 'RssAnon loaded', unit: 'MiB', a: loaded(ours), b: loaded(theirs) },
      { load: 'RssAnon idle, JVM with -Xmx1g', unit: 'MiB', a: idle(ours), b: idle(small) },
      {
        load: 'RssAnon loaded, JVM with -Xmx1g',
        unit: 'MiB',
        a: loaded(ours),
        b: loaded(small),
        goal: { kind: 'atMost', ratio: 1 / 3 },
      },
      { load: 'RssAnon loaded, alone', unit: 'MiB', a: loaded(ours), b: [], goal: { kind: 'below', value: 300 } },
    ];
  },
};

export const startRows: readonly Row[] = [start, memoryRow];
