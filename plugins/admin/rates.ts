import { doubleText } from './double-text.js';

/** Sums taken once a second, ten minutes of them: what happened per second over the last 10 s, 1 min and 10 min. */
export class Rates {
  readonly #sums: number[] = [];

  sample(sum: number): void {
    this.#sums.push(sum);
    if (this.#sums.length > 601) this.#sums.shift();
  }

  /** Three numbers with a blank between, as 4.9 prints them (4.9: StoreStatsService#getPutTps). */
  text(): string {
    return [10, 60, 600].map((seconds) => doubleText(this.over(seconds))).join(' ');
  }

  /** Per second over the last `seconds`, or as long as there are samples. */
  over(seconds: number): number {
    const last = this.#sums.length - 1;
    const first = Math.max(0, last - seconds);
    return last <= first ? 0 : (this.#sums[last] - this.#sums[first]) / (last - first);
  }
}
