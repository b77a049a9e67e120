import type { BrokerFigures } from '../../../cli/bench/topologies/figures.js';
import type { TopologyRun } from '../../../cli/bench/topologies/run.js';

export interface RunWish {
  readonly topology?: string;
  readonly turn?: number;
  readonly phase?: string;
  readonly rate?: number;
  readonly p99?: number;
  readonly cpu?: number;
  readonly paced?: boolean;
  readonly errors?: Readonly<Record<string, number>>;
  readonly figures?: BrokerFigures;
}

/** A run of one second. */
export function runOf(wish: RunWish = {}): TopologyRun {
  const { topology = 'dedicated', turn = 1, phase = 'produce', rate = 1000, p99 = 100, cpu = 5, errors = {} } = wish;
  const { paced = false } = wish;
  return {
    topology,
    turn,
    phase,
    paced,
    messages: rate,
    seconds: 1,
    messagesPerSecond: rate,
    mebibytesPerSecond: 1,
    latencyMicros: { p50: p99 / 4, p90: p99 / 2, p99, p999: p99 * 2, max: p99 * 4, mean: p99 / 3 },
    errors,
    generatorCpuMicrosPerMessage: 1,
    broker: { cpuMicrosPerMessage: cpu, rssAnonMebibytes: 100 },
    figures: wish.figures ?? { threadCpuMicros: { main: rate * cpu, other: 0 }, wakeUps: { main: rate } },
  };
}

/** Runs of one topology in as many turns as there are rates. */
export function turnsOf(topology: string, rates: readonly number[], wish: RunWish = {}): TopologyRun[] {
  return rates.map((rate, index) => runOf({ ...wish, topology, rate, turn: index + 1 }));
}
