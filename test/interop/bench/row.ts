import type { BenchRun } from '../../../cli/bench/bench.js';
import type { Brokers } from './brokers.js';
import type { Figure, Goal, Unit } from './figures.js';
import type { Settings } from './settings.js';

/** What rows share while they run. */
export interface Scene {
  readonly settings: Settings;
  readonly brokers: Brokers;
}

/** One load of the table. Rows do not depend on each other: each has a topic of its own. */
export interface Row {
  readonly name: string;
  readonly about: string;
  run(scene: Scene): Promise<Figure[]>;
}

/** What every kind of run tells. */
export type Run = Pick<BenchRun, 'side' | 'messagesPerSecond' | 'errors' | 'broker'> & {
  readonly latencyMicros: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** Of a load at a fixed rate: share of the sends that left late, and messages that never came. */
  readonly lateShare?: number;
  readonly missing?: number;
  readonly unanswered?: number;
  /** Delayed messages that came before their time, and that came more than once. */
  readonly early?: number;
  readonly repeated?: number;
};

/** From here on the generator tells more about itself than about a broker. */
const LATE_SHARE_MAX = 0.01;

type FigureExtra = Pick<Figure, 'goal' | 'family'>;

/** A figure from the runs of both sides. */
export function figureOf(
  load: string,
  unit: Unit,
  runs: readonly Run[],
  value: (run: Run) => number | undefined,
  extra: FigureExtra = {},
): Figure {
  const side = (name: string): number[] =>
    runs.flatMap((run) => (run.side === name ? [value(run)].filter((one) => one !== undefined) : []));
  return { load, unit, a: side('A'), b: side('B'), ...extra, note: noteOf(runs) };
}

/** Rate, latencies, and the broker's CPU per message. */
export function loadFigures(load: string, runs: readonly Run[], rate: FigureExtra, cpu?: Goal): Figure[] {
  return [
    figureOf(load, 'msg/s', runs, (run) => run.messagesPerSecond, rate),
    figureOf(`${load}, p50`, 'µs', runs, (run) => run.latencyMicros.p50),
    figureOf(`${load}, p99`, 'µs', runs, (run) => run.latencyMicros.p99),
    figureOf(`${load}, broker CPU per message`, 'µs', runs, (run) => run.broker?.cpuMicrosPerMessage, { goal: cpu }),
  ];
}

const doubts = [
  ['missing', 'messages never came'],
  ['unanswered', 'sends without an answer'],
  ['early', 'messages came before their time'],
  ['repeated', 'messages came again'],
] as const;

/** What came otherwise than wanted. */
function noteOf(runs: readonly Run[]): string | undefined {
  const texts = runs.flatMap(({ side, errors, lateShare = 0, ...counts }) => [
    ...Object.entries(errors).map(([code, count]) => `${side} ${count} × answer ${code}`),
    ...doubts.flatMap(([name, text]) => ((counts[name] ?? 0) > 0 ? [`${side} ${counts[name]} ${text}`] : [])),
    ...(lateShare > LATE_SHARE_MAX ? [`${side} ${(lateShare * 100).toFixed(1)} % sent late`] : []),
  ]);
  return texts.length === 0 ? undefined : texts.join(', ');
}
