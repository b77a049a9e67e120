import type { InjectionToken } from 'tsyringe';

/** The delay levels, and where a delayed message lies until it is due (4.9: ScheduleMessageService). */
export interface Delays {
  /** The level, or the highest there is. */
  clamp(level: number): number;
  /** The topic and queue that keep a message of this level; notes in `properties` where it is to go. */
  place(
    topic: string,
    queueId: number,
    level: number,
    properties: Map<string, string>,
  ): { topic: string; queueId: number };
  /** Progress by level, for slaves. */
  offsets(): ReadonlyMap<number, number>;
}
export const Delays: InjectionToken<Delays> = Symbol('Delays');
