import type { BenchRun } from '../../../cli/bench/bench.js';
import type { Figure, Goal } from './figures.js';
import { benchOne, benchPair } from './kernel-bench.js';
import { figureOf, type Row } from './row.js';

/** Short enough that what was sent falls due while it is measured. */
const LEVEL_SECONDS = 5;
const wish = { options: { messageDelayLevel: `${LEVEL_SECONDS}s` } };
const RATE = 10_000;
/** The original looks at each level every 100 ms. */
const GOAL_MS = 50;
const common = ['--queues', '8', '-s', '128', '--rate', String(RATE), '--delay', String(LEVEL_SECONDS)];
const about = `${RATE.toLocaleString('en-US')} due per second after ${LEVEL_SECONDS} s`;

const levels: Row = {
  name: 'delays',
  about: `delayed messages of a level, ${about}: how late they are stored for consumers`,
  async run({ brokers, settings: { seconds, turns, json } }) {
    const command = { kind: 'delays', args: ['-t', 'peer-delays', '--level', '1', ...common], warmSeconds: 1 } as const;
    const runs = await benchPair({ ...command, seconds, turns }, await brokers.pair(wish), 'delays', json);
    return lateness(`delay level, ${about}`, runs);
  },
};

/** The original knows no delivery times. */
const timers: Row = {
  name: 'timers',
  about: `messages with delivery times of their own, ${about}: how late they are stored for consumers`,
  async run({ brokers, settings: { seconds, turns } }) {
    const { ours } = await brokers.pair(wish);
    const command = { kind: 'delays', args: ['-t', 'peer-timers', '--timer', ...common], warmSeconds: 1 } as const;
    const runs: BenchRun[] = [];
    for (let turn = 0; turn < turns; turn++) runs.push(...(await benchOne({ ...command, seconds }, ours)));
    return lateness(`delivery time, ${about}`, runs);
  },
};

function lateness(load: string, runs: readonly BenchRun[]): Figure[] {
  const late = (name: 'p50' | 'p99' | 'p999', title: string, goal?: Goal): Figure =>
    figureOf(`${load}, late by ${title}`, 'ms', runs, (run) => run.latencyMicros[name] / 1000, { goal });
  return [
    late('p50', 'p50'),
    late('p99', 'p99', { kind: 'below', value: GOAL_MS }),
    late('p999', 'p99.9'),
    figureOf(`${load}, broker CPU per message`, 'µs', runs, (run) => run.broker?.cpuMicrosPerMessage),
  ];
}

export const delayRows: readonly Row[] = [levels, timers];
