/** What a figure must reach. Ratios are A / B, this broker's median over the original's. */
export type Goal =
  | { readonly kind: 'atLeast' | 'atMost'; readonly ratio: number; readonly stretch?: number | undefined }
  /** A bound of our own value, whatever the original has. */
  | { readonly kind: 'below'; readonly value: number };

export type Unit = 'msg/s' | 'µs' | 'ms' | 'MiB';

/** One line of the closing table: what both sides reached in each turn. */
export interface Figure {
  readonly load: string;
  readonly unit: Unit;
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly goal?: Goal | undefined;
  /** Figures that differ only in the topology share it. */
  readonly family?: { readonly name: string; readonly topology: string } | undefined;
  /** What makes the figure doubtful, such as answers with errors. */
  readonly note?: string | undefined;
}

/** Undefined for no values. Of an even number the mean of the middle two. */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((x, y) => x - y);
  const high = sorted[Math.floor(sorted.length / 2)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  return high === undefined || low === undefined ? undefined : (low + high) / 2;
}

/** A's median over B's; undefined when a side has none, or B's is 0. */
export function ratioOf({ a, b }: Figure): number | undefined {
  const [ours, theirs] = [median(a), median(b)];
  return ours === undefined || theirs === undefined || theirs === 0 ? undefined : ours / theirs;
}

export function goalText(goal: Goal | undefined, unit: Unit): string {
  if (goal === undefined) return '';
  if (goal.kind === 'below') return `≤ ${goal.value} ${unit}`;
  const sign = goal.kind === 'atLeast' ? '≥' : '≤';
  const stretch = goal.stretch === undefined ? '' : `; stretch ${goal.stretch}`;
  return `${sign} ${Number(goal.ratio.toFixed(2))} ×${stretch}`;
}

/** Empty without a goal; `?` when a side has no value. */
export function verdict(figure: Figure): '' | 'yes' | 'yes, stretch too' | 'no' | '?' {
  const { goal } = figure;
  if (goal === undefined) return '';
  if (goal.kind === 'below') {
    const ours = median(figure.a);
    return ours === undefined ? '?' : ours <= goal.value ? 'yes' : 'no';
  }
  const ratio = ratioOf(figure);
  if (ratio === undefined) return '?';
  const reaches = (bound: number): boolean => (goal.kind === 'atLeast' ? ratio >= bound : ratio <= bound);
  if (goal.stretch !== undefined && reaches(goal.stretch)) return 'yes, stretch too';
  return reaches(goal.ratio) ? 'yes' : 'no';
}

/** For each family of which at least two topologies were measured: the one with the highest ratio, against `goal`. */
export function bestTopologies(figures: readonly Figure[], goal: Goal): Figure[] {
  const names = new Set(figures.flatMap(({ family }) => (family === undefined ? [] : [family.name])));
  return [...names].flatMap((name) => {
    const members = figures.filter((figure) => figure.family?.name === name);
    const best = [...members].sort((x, y) => (ratioOf(y) ?? 0) - (ratioOf(x) ?? 0))[0];
    if (best === undefined || members.length < 2) return [];
    return [{ ...best, load: `${name}, best topology: ${best.family?.topology ?? ''}`, goal }];
  });
}
