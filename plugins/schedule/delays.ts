import { inject, injectable } from '../../kernel/container.js';
import { LevelWords, type LevelMemory } from '../../kernel/ring/level-words.js';
import { Options } from '../../kernel/tokens.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import { timerWishOf } from '../../protocol/message/timer.js';
import type { Delays, Place } from './contract.js';
import { TimerPlacement } from './timers.js';

@injectable()
export class DelayLevels implements Delays {
  /** Delay of each level in ms, level 1 first. */
  readonly levelsMs: readonly number[];
  readonly memory: LevelMemory;
  readonly #words: LevelWords;
  /** Of levels that the table does not have any more: they are kept for when it has them again. */
  readonly #others = new Map<number, number>();

  constructor(
    @inject(Options) options: Options,
    @inject(TimerPlacement) private readonly timers: TimerPlacement,
  ) {
    this.levelsMs = parseDelayLevels(options.messageDelayLevel);
    this.memory = LevelWords.allocate(this.levelsMs.length);
    this.#words = new LevelWords(this.memory);
  }

  clamp(level: number): number {
    return Math.min(level, this.levelsMs.length);
  }

  place(topic: string, queueId: number, level: number): Place {
    const clamped = this.clamp(level);
    const noted = {
      [PropertyName.DELAY_TIME_LEVEL]: String(clamped),
      [PropertyName.REAL_TOPIC]: topic,
      [PropertyName.REAL_QUEUE_ID]: String(queueId),
    };
    return { topic: SystemTopic.SCHEDULE, queueId: clamped - 1, noted };
  }

  placeOf(topic: string, queueId: number, properties: ReadonlyMap<string, string>): Place | undefined {
    const text = properties.get(PropertyName.DELAY_TIME_LEVEL) ?? '';
    const level = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
    if (level > 0) return this.place(topic, queueId, level);
    const wish = timerWishOf(properties);
    return wish === undefined ? undefined : this.timers.place(topic, queueId, wish);
  }

  offsets(): ReadonlyMap<number, number> {
    const offsets = new Map(this.#others);
    for (let queueId = 0; queueId < this.levelsMs.length; queueId++) {
      const offset = this.#words.progress(queueId);
      if (offset > 0) offsets.set(queueId + 1, offset);
    }
    return offsets;
  }

  /** Before the service runs. */
  setOffset(level: number, offset: number): void {
    if (level >= 1 && level <= this.levelsMs.length) this.#words.setProgress(level - 1, offset);
    else this.#others.set(level, offset);
  }
}
