import { OTHER_THREADS } from './figures.js';
import type { TopologyRun } from './run.js';

/** A figure over the turns. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** What one topology did in one phase, over all turns. Figures that no turn has are missing. */
export interface PhaseSummary {
  readonly topology: string;
  readonly phase: string;
  readonly turns: number;
  /** Its rate was given. */
  readonly paced: boolean;
  readonly rate: Spread;
  /** Of one request, or with `latency` of a message from send to consumer; in microseconds. */
  readonly p50: Spread;
  readonly p90: Spread;
  readonly p99: Spread;
  readonly p999: Spread;
  /** Of the broker per message, in microseconds. */
  readonly cpu?: Spread;
  readonly threadCpu: Readonly<Record<string, Spread>>;
  /** Per 1,000 messages. */
  readonly wakeUps: Readonly<Record<string, Spread>>;
  readonly anonMebibytes?: Spread;
  readonly loopDelayMicros?: Occupancy;
  readonly ringUnits?: Occupancy;
  readonly ringKibibytes?: Occupancy;
  /** Of a paced load: share of the sends that left more than 1 ms late. */
  readonly lateShare?: Spread;
  /** Requests that were refused, in all turns. */
  readonly errors: number;
}

/** Medians of means and of percentiles, and the largest value of all turns. */
export interface Occupancy {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** In the order in which phases and topologies first ran: all topologies of a phase together. */
export function summaries(runs: readonly TopologyRun[]): PhaseSummary[] {
  const phases = [...new Set(runs.map(({ phase }) => phase))];
  const topologies = [...new Set(runs.map(({ topology }) => topology))];
  return phases.flatMap((phase) =>
    topologies.map((topology) =>
      summaryOfRuns(
        topology,
        phase,
        runs.filter((run) => run.phase === phase && run.topology === topology),
      ),
    ),
  );
}

function summaryOfRuns(topology: string, phase: string, runs: readonly TopologyRun[]): PhaseSummary {
  const perMessage = (micros: number, run: TopologyRun): number => micros / Math.max(1, run.messages);
  const cpu = maybe(runs, (run) => run.broker?.cpuMicrosPerMessage);
  const anonMebibytes = maybe(runs, (run) => run.broker?.rssAnonMebibytes);
  const lateShare = maybe(runs, (run) => run.lateShare);
  const loopDelayMicros = occupancyOf(runs, ({ loopDelayMicros: found }) => found);
  const ringUnits = occupancyOf(runs, ({ ringUnits: found }) => found);
  const ringKibibytes = occupancyOf(runs, ({ ringBytes: found }) => found, 1024);
  return {
    topology,
    phase,
    turns: runs.length,
    paced: runs.every((run) => run.paced),
    rate: spreadOf(runs.map((run) => run.messagesPerSecond)),
    p50: spreadOf(runs.map((run) => run.latencyMicros.p50)),
    p90: spreadOf(runs.map((run) => run.latencyMicros.p90)),
    p99: spreadOf(runs.map((run) => run.latencyMicros.p99)),
    p999: spreadOf(runs.map((run) => run.latencyMicros.p999)),
    ...(cpu === undefined ? {} : { cpu }),
    threadCpu: byThread(runs, (run) => run.figures.threadCpuMicros, perMessage),
    wakeUps: byThread(
      runs,
      (run) => run.figures.wakeUps,
      (count, run) => perMessage(count * 1000, run),
    ),
    ...(anonMebibytes === undefined ? {} : { anonMebibytes }),
    ...(loopDelayMicros === undefined ? {} : { loopDelayMicros }),
    ...(ringUnits === undefined ? {} : { ringUnits }),
    ...(ringKibibytes === undefined ? {} : { ringKibibytes }),
    ...(lateShare === undefined ? {} : { lateShare }),
    errors: runs.flatMap((run) => Object.values(run.errors)).reduce((sum, count) => sum + count, 0),
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const rising = [...values].sort((a, b) => a - b);
  return { median: medianOf(rising), min: rising[0]!, max: rising.at(-1)! };
}

/** Of a list in rising order. */
function medianOf(rising: readonly number[]): number {
  const half = rising.length >> 1;
  return rising.length % 2 === 1 ? rising[half]! : (rising[half - 1]! + rising[half]!) / 2;
}

/** Undefined unless every run has the figure. */
function maybe(runs: readonly TopologyRun[], of: (run: TopologyRun) => number | undefined): Spread | undefined {
  const values = runs.map(of).filter((value) => value !== undefined);
  return values.length < runs.length ? undefined : spreadOf(values);
}

function byThread(
  runs: readonly TopologyRun[],
  table: (run: TopologyRun) => Readonly<Record<string, number>>,
  figure: (value: number, run: TopologyRun) => number,
): Record<string, Spread> {
  const names = [...new Set(runs.flatMap((run) => Object.keys(table(run))))];
  const ordered = [
    ...names.filter((name) => name !== OTHER_THREADS),
    ...names.filter((name) => name === OTHER_THREADS),
  ];
  return Object.fromEntries(
    ordered.map((name) => [name, spreadOf(runs.map((run) => figure(table(run)[name] ?? 0, run)))]),
  );
}

function occupancyOf(
  runs: readonly TopologyRun[],
  of: (figures: TopologyRun['figures']) => Occupancy | undefined,
  divisor = 1,
): Occupancy | undefined {
  const found = runs.map(({ figures }) => of(figures)).filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  const median = (key: keyof Occupancy): number => spreadOf(found.map((one) => one[key])).median / divisor;
  return {
    mean: median('mean'),
    p50: median('p50'),
    p99: median('p99'),
    max: Math.max(...found.map(({ max }) => max)) / divisor,
  };
}
