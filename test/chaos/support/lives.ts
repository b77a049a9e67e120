import { systemClock } from '../../../kernel/base/clock.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import type { BrokerProcess } from './broker-process.js';

/** From a launch of the broker to its end, by the wall clock that its messages carry. */
export interface Life {
  readonly beganWallMs: number;
  /** When it served; Infinity before. */
  readyWallMs: number;
  /** The life before it ended by a kill or a power cut. */
  readonly afterKill: boolean;
}

/** Where one delivery of a message stands. */
export interface Copy {
  readonly storeMs: number;
  readonly physicalOffset: number;
}

/** The lives of one broker, one after the other. */
export class Lives {
  readonly all: Life[] = [];

  constructor(private readonly broker: BrokerProcess) {}

  async start(afterKill: boolean): Promise<void> {
    const life = { beganWallMs: nowMs(), readyWallMs: Infinity, afterKill };
    this.all.push(life);
    await this.broker.start();
    life.readyWallMs = nowMs();
  }

  of(wallMs: number): Life {
    return this.all[this.#indexOf(wallMs)]!;
  }

  /** What is wrong with the copies of one message, if anything: a second one that no kill excuses. */
  repeatProblem(copies: readonly Copy[]): string | undefined {
    const sorted = [...copies].sort((a, b) => a.physicalOffset - b.physicalOffset);
    for (let at = 1; at < sorted.length; at++) {
      const [before, copy] = [sorted[at - 1]!, sorted[at]!];
      const [from, to] = [this.#indexOf(before.storeMs), this.#indexOf(copy.storeMs)];
      if (!this.all.slice(from + 1, to + 1).some(({ afterKill }) => afterKill))
        return `came at ${before.physicalOffset} in life ${from} and again at ${copy.physicalOffset} in life ${to}, without a kill in between`;
    }
    return undefined;
  }

  #indexOf(wallMs: number): number {
    return this.all.findLastIndex(({ beganWallMs }) => beganWallMs <= wallMs);
  }
}

export function nowMs(): number {
  return Math.trunc(systemClock.wallMs());
}

/** As many kills as stops, in any order. */
export function endingsOf(random: SeededRandom, rounds: number): ('kill' | 'stop')[] {
  const endings = Array.from({ length: rounds }, (_, i): 'kill' | 'stop' => (i % 2 === 0 ? 'kill' : 'stop'));
  for (let i = endings.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [endings[i], endings[j]] = [endings[j]!, endings[i]!];
  }
  return endings;
}
