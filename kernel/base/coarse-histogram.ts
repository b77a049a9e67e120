/** Buckets per power of two: a value is known to within a quarter. */
const STEPS = 4;
/** Values below this have a bucket each. */
const EXACT = 4;
const BUCKETS = EXACT + STEPS * 46;

/** What was recorded: the sum, and how often each bucket was hit; empty buckets are missing. */
export interface CoarseCounts {
  readonly sum: number;
  readonly buckets: ReadonlyMap<number, number>;
}

/**
 * Counts whole numbers in coarse buckets and is never reset, so that several who ask do not disturb each other: what happened
 * between two readings is their difference.
 */
export class CoarseHistogram {
  readonly #buckets = new Float64Array(BUCKETS);
  #sum = 0;

  record(value: number): void {
    const whole = Math.max(0, Math.trunc(value));
    this.#sum += whole;
    this.#buckets[bucketOf(whole)]! += 1;
  }

  /** `sum bucket:count bucket:count …` */
  text(): string {
    let text = String(this.#sum);
    for (let bucket = 0; bucket < BUCKETS; bucket++)
      if (this.#buckets[bucket]! > 0) text += ` ${bucket}:${this.#buckets[bucket]!}`;
    return text;
  }
}

/** Reads `text()` of a histogram, maybe of another process. Throws on anything else. */
export function parseCoarse(text: string): CoarseCounts {
  if (!/^\d+( \d+:\d+)*$/.test(text)) throw new TypeError(`not a coarse histogram: ${text.slice(0, 80)}`);
  const [sum, ...pairs] = text.split(' ');
  return { sum: Number(sum), buckets: new Map(pairs.map((pair) => pair.split(':').map(Number) as [number, number])) };
}

/** What was recorded between two readings of one histogram. */
export function coarseBetween(before: CoarseCounts, after: CoarseCounts): CoarseCounts {
  const buckets = [...after.buckets].map(
    ([bucket, count]) => [bucket, count - (before.buckets.get(bucket) ?? 0)] as const,
  );
  return { sum: after.sum - before.sum, buckets: new Map(buckets.filter(([, count]) => count > 0)) };
}

export interface CoarseSummary {
  readonly mean: number;
  /** Upper ends of buckets: the true value is not larger, and at most a quarter smaller. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Undefined when nothing was recorded. */
export function summaryOf({ sum, buckets }: CoarseCounts): CoarseSummary | undefined {
  const rising = [...buckets].sort(([a], [b]) => a - b);
  const total = rising.reduce((all, [, count]) => all + count, 0);
  if (total === 0) return undefined;
  const at = (share: number): number => {
    let seen = 0;
    for (const [bucket, count] of rising) {
      seen += count;
      if (seen >= share * total) return highestOf(bucket);
    }
    return highestOf(rising.at(-1)![0]);
  };
  return { mean: sum / total, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function bucketOf(value: number): number {
  if (value < EXACT) return value;
  const power = Math.floor(Math.log2(value));
  const step = Math.floor((value / 2 ** power - 1) * STEPS);
  return Math.min(BUCKETS - 1, EXACT + (power - 2) * STEPS + step);
}

/** The largest whole number that falls into the bucket. */
function highestOf(bucket: number): number {
  if (bucket < EXACT) return bucket;
  const power = Math.floor((bucket - EXACT) / STEPS) + 2;
  const step = (bucket - EXACT) % STEPS;
  return 2 ** power * (1 + (step + 1) / STEPS) - 1;
}
