import type { InjectionToken } from 'tsyringe';
import type { TimerWish } from '../../protocol/message/timer.js';

/** Where a message is stored until its time comes. */
export interface Place {
  readonly topic: string;
  readonly queueId: number;
  /** Properties that are stored with it: where it is to go, and when. */
  readonly noted: Readonly<Record<string, string>>;
}

/** The delay levels, and where a delayed message lies until it is due (4.9: ScheduleMessageService). */
export interface Delays {
  /** The level, or the highest there is. */
  clamp(level: number): number;
  /** For a level above 0; above the highest it is that. */
  place(topic: string, queueId: number, level: number): Place;
  /** For a message with these properties; undefined when they ask for no delay. */
  placeOf(topic: string, queueId: number, properties: ReadonlyMap<string, string>): Place | undefined;
  /** Progress by level, for slaves: offset in the level's queue of the first message that is not delivered. */
  offsets(): ReadonlyMap<number, number>;
}
export const Delays: InjectionToken<Delays> = Symbol('Delays');

/** Why a message with a delivery time of its own is not taken. */
export interface TimerRefusal {
  readonly code: number;
  readonly remark: string;
}

/** Messages with a delivery time of their own (RocketMQ 5: TimerMessageStore). */
export interface Timers {
  /** Why a send is refused, or undefined. */
  refusal(wish: TimerWish): TimerRefusal | undefined;
  /** Undefined: it is due, or says nothing that can be read, and goes straight to where it wants. */
  place(topic: string, queueId: number, wish: TimerWish): Place | undefined;
}
export const Timers: InjectionToken<Timers> = Symbol('Timers');
