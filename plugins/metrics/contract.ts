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
