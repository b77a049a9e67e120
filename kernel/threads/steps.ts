import { assert } from '../base/assert.js';
import { TURN_CEILING_MS } from './limits.js';
import type { Service } from './service.js';

/** Last steps of a service that is asked to stop. */
const LAST_STEPS_MAX = 10_000;

/** What a step returned as a wait in milliseconds: 0, or more up to the ceiling. */
export function waitOf(returned: number): number {
  assert(returned === returned, 'Service.step returns milliseconds, not NaN');
  return returned > 0 ? Math.min(returned, TURN_CEILING_MS) : 0;
}

/** For how long a thread leaves bells unheard: as long as all of its services may. Those that do not mind do not make it rest. */
export function restOf(hosted: readonly { readonly service: Service }[]): number {
  let restMs = Infinity;
  for (const { service } of hosted) restMs = Math.min(restMs, service.restMs ?? 0);
  return restMs === Infinity ? 0 : restMs;
}

/** What was handed over before the stop is done before the close; bounded, since a service may find more for ever. */
export function finish(service: Service): void {
  try {
    for (let i = 0; i < LAST_STEPS_MAX; i++) if (waitOf(service.step()) > 0) break;
  } finally {
    service.close();
  }
}
