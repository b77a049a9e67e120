import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import type { GroupRates } from './contract.js';

/** Seven samples, ten seconds apart: a minute (4.9: StatsItem#computeStatsDataInMinute). */
export const SAMPLE_MS = 10_000;
const SAMPLES = 7;

interface Sample {
  readonly count: number;
  readonly atMonoMs: number;
}

interface Tally {
  count: number;
  readonly samples: Sample[];
}

/** 4.9: GROUP_GET_NUMS of BrokerStatsManager. Who got nothing for a minute is forgotten. */
@injectable()
export class PullRates implements GroupRates {
  readonly #byGroup = new Map<string, Map<string, Tally>>();

  constructor(@inject(Clock) private readonly clock: Clock) {}

  count(group: string, topic: string, messages: number): void {
    let topics = this.#byGroup.get(group);
    if (topics === undefined) this.#byGroup.set(group, (topics = new Map<string, Tally>()));
    const tally = topics.get(topic);
    if (tally === undefined) topics.set(topic, { count: messages, samples: [] });
    else tally.count += messages;
  }

  of(group: string, topic: string): number {
    const samples = this.#byGroup.get(group)?.get(topic)?.samples ?? [];
    const [first, last] = [samples[0], samples.at(-1)];
    if (first === undefined || last === undefined || last.atMonoMs <= first.atMonoMs) return 0;
    return ((last.count - first.count) * 1000) / (last.atMonoMs - first.atMonoMs);
  }

  sample(): void {
    const atMonoMs = this.clock.monoMs();
    for (const [group, topics] of this.#byGroup) {
      for (const [topic, { count, samples }] of topics) {
        samples.push({ count, atMonoMs });
        if (samples.length > SAMPLES) samples.shift();
        if (samples.length === SAMPLES && samples[0]?.count === count) topics.delete(topic);
      }
      if (topics.size === 0) this.#byGroup.delete(group);
    }
  }
}
