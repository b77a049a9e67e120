import type { InjectionToken } from 'tsyringe';

/** What the broker did since it started; plain numbers that the network thread adds to. */
export interface Counters {
  putMessages: number;
  putBytes: number;
  /** Sends that were not stored. */
  putRefused: number;
  getMessages: number;
  getBytes: number;
  /** Pulls that found something, and that did not. */
  getFound: number;
  getMissed: number;
}
export const Counters: InjectionToken<Counters> = Symbol('Counters');

/** What groups get, by topic. */
export interface GroupRates {
  count(group: string, topic: string, messages: number): void;
  /** Messages per second over the last minute; 0 until two samples of ten seconds are there. */
  of(group: string, topic: string): number;
}
export const GroupRates: InjectionToken<GroupRates> = Symbol('GroupRates');
