import type { BenchRun } from './bench.js';

/** What is compared, by its name in the JSON file. */
const figures = {
  messagesPerSecond: (run: BenchRun) => run.messagesPerSecond,
  p50: (run: BenchRun) => run.latencyMicros.p50,
  p90: (run: BenchRun) => run.latencyMicros.p90,
  p99: (run: BenchRun) => run.latencyMicros.p99,
  p999: (run: BenchRun) => run.latencyMicros.p999,
  max: (run: BenchRun) => run.latencyMicros.max,
  sendP50: (run: BenchRun) => run.sendLatencyMicros?.p50,
  sendP99: (run: BenchRun) => run.sendLatencyMicros?.p99,
  sendP999: (run: BenchRun) => run.sendLatencyMicros?.p999,
  brokerCpuMicrosPerMessage: (run: BenchRun) => run.broker?.cpuMicrosPerMessage,
  brokerRssAnonMebibytes: (run: BenchRun) => run.broker?.rssAnonMebibytes,
  generatorCpuMicrosPerMessage: (run: BenchRun) => run.generatorCpuMicrosPerMessage,
} satisfies Record<string, (run: BenchRun) => number | undefined>;

export type FigureName = keyof typeof figures;
/** A figure that not all runs have is left out. */
export type Figures = Readonly<Partial<Record<FigureName, number>>>;

const names = Object.keys(figures) as FigureName[];

/** The median of each figure over the runs of each side. */
export function mediansOf(runs: readonly BenchRun[]): Partial<Record<'A' | 'B', Figures>> {
  const sides = [...new Set(runs.map(({ side }) => side))];
  return Object.fromEntries(
    sides.map((side) => {
      const own = runs.filter((run) => run.side === side);
      return [side, tableOf((name) => allOf(own.map(figures[name])))];
    }),
  );
}

function allOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length ? undefined : median(known);
}

/** A's medians in multiples of B's. */
export function ratiosOf(a: Figures, b: Figures): Figures {
  return tableOf((name) => {
    const [over, under] = [a[name], b[name]];
    return over === undefined || under === undefined || under === 0 ? undefined : over / under;
  });
}

function tableOf(value: (name: FigureName) => number | undefined): Figures {
  return Object.fromEntries(names.map((name) => [name, value(name)]).filter(([, figure]) => figure !== undefined));
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
