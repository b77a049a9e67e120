import type { InjectionToken } from 'tsyringe';

/**
 * Figures of this process that say how a topology works, as keys of GET_BROKER_RUNTIME_INFO (28) beside those of 4.9. All of them
 * only grow: what a stretch of time brought is the difference of two readings, whoever else reads. ARCHITECTURE.md lists them.
 */
export interface Gauges {
  table(): ReadonlyMap<string, string>;
}
export const Gauges: InjectionToken<Gauges> = Symbol('Gauges');
