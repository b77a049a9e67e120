import type { Occupancy, PhaseSummary, Spread } from './summary.js';

/** A line of a table: one figure, a cell for each topology. */
export interface FigureRow {
  readonly name: string;
  readonly cells: readonly string[];
}

const MISSING = '–';

/** 1,234 or 12.3 or 1.23: three digits say enough. */
export function short(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** All figures of one phase; the cells stand in the order of the topologies. */
export function figureRows(phase: readonly PhaseSummary[]): FigureRow[] {
  const row = (name: string, cell: (summary: PhaseSummary) => string): FigureRow => ({ name, cells: phase.map(cell) });
  return [
    row('messages/s', ({ rate, turns }) => withRange(rate, turns)),
    row('p50 µs', ({ p50 }) => short(p50.median)),
    row('p90 µs', ({ p90 }) => short(p90.median)),
    row('p99 µs', ({ p99, turns }) => withRange(p99, turns)),
    row('p99.9 µs', ({ p999 }) => short(p999.median)),
    row('CPU µs/message', ({ cpu, turns }) => (cpu === undefined ? MISSING : withRange(cpu, turns))),
    ...threadsIn(phase, ({ threadCpu }) => threadCpu).map((thread) =>
      row(`  ${thread}`, ({ threadCpu }) => median(threadCpu[thread])),
    ),
    row('wake-ups/1,000 msgs', ({ wakeUps }) => (Object.keys(wakeUps).length === 0 ? MISSING : short(sumOf(wakeUps)))),
    ...threadsIn(phase, ({ wakeUps }) => wakeUps).map((thread) =>
      row(`  ${thread}`, ({ wakeUps }) => median(wakeUps[thread])),
    ),
    row('anonymous MiB', ({ anonMebibytes }) => median(anonMebibytes)),
    row('loop delay µs p50/p99/max', ({ loopDelayMicros: found }) => three(found, found?.p50)),
    row('ring units mean/p99/max', ({ ringUnits: found }) => three(found, found?.mean)),
    row('ring KiB mean/p99/max', ({ ringKibibytes: found }) => three(found, found?.mean)),
    ...(phase.some(({ lateShare }) => lateShare !== undefined)
      ? [row('left late %', ({ lateShare }) => (lateShare === undefined ? MISSING : short(lateShare.median * 100)))]
      : []),
    ...(phase.some(({ errors }) => errors > 0) ? [row('refused requests', ({ errors }) => short(errors))] : []),
  ];
}

/** The threads of all topologies, `main` first, in the order in which they appear. */
export function threadsIn(
  phase: readonly PhaseSummary[],
  of: (summary: PhaseSummary) => Readonly<Record<string, Spread>>,
): string[] {
  const names = [...new Set(phase.flatMap((summary) => Object.keys(of(summary))))];
  const rank = (name: string): number => (name === 'main' ? 0 : name === 'other' ? 2 : 1);
  return names.sort((a, b) => rank(a) - rank(b));
}

export function sumOf(table: Readonly<Record<string, Spread>>): number {
  return Object.values(table).reduce((sum, one) => sum + one.median, 0);
}

function withRange({ median: middle, min, max }: Spread, turns: number): string {
  return turns === 1 ? short(middle) : `${short(middle)} (${short(min)}–${short(max)})`;
}

function median(spread: Spread | undefined): string {
  return spread === undefined ? MISSING : short(spread.median);
}

function three(occupancy: Occupancy | undefined, first: number | undefined): string {
  if (occupancy === undefined || first === undefined) return MISSING;
  return [first, occupancy.p99, occupancy.max].map(short).join(' / ');
}
