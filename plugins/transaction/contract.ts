import type { InjectionToken } from 'tsyringe';
import type { Place } from '../schedule/contract.js';

/** Where the first half of a transaction lies until its producer ends it (4.9: TransactionalMessageBridge). */
export interface Halves {
  /** Why none is taken now, or undefined. */
  readonly refusal: string | undefined;
  /** The same object for the same queue, as a rule. */
  place(topic: string, queueId: number): Place;
  /** While there is a reason, halves are refused with it. */
  holdBack(reason: string | undefined): void;
}
export const Halves: InjectionToken<Halves> = Symbol('Halves');

export type Decision = 'committed' | 'rolledBack';

/**
 * What was decided in this life, by origin: queue offset of the half as it was sent. Halves are put back when they are asked about;
 * all copies of one have its origin, so that none of them is ended twice.
 */
export interface Decided {
  /** Also of what is on its way to the log. */
  of(origin: number): Decision | undefined;
  /** Op records below this offset of their queue were read by the checks: what they say need not be kept here for long. */
  opsRead(opOffset: number): void;
}
export const Decided: InjectionToken<Decided> = Symbol('Decided');
