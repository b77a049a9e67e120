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

/** What was handed over before the stop is done before the close; bounded, since a service may find more for ever. */
export function finish(service: Service): void {
  try {
    for (let i = 0; i < LAST_STEPS_MAX; i++) if (waitOf(service.step()) > 0) break;
  } finally {
    service.close();
  }
}
