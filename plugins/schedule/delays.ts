import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import type { Delays, Place } from './contract.js';

@injectable()
export class DelayLevels implements Delays {
  /** Delay of each level in ms, level 1 first. */
  readonly levelsMs: readonly number[];
  /** Offset in the level's queue of the next message to deliver, by level. */
  readonly progress = new Map<number, number>();

  constructor(@inject(Options) options: Options) {
    this.levelsMs = parseDelayLevels(options.messageDelayLevel);
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

  offsets(): ReadonlyMap<number, number> {
    return this.progress;
  }
}
