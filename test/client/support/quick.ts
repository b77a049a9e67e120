import type { ConsumerPeriods } from '../../../client/index.js';

/** Periods that let a test see in a moment what takes seconds otherwise. */
export const quick: ConsumerPeriods = {
  heartbeatMs: 200,
  routeMs: 200,
  missingRouteMs: 20,
  rebalanceMs: 50,
  persistMs: 20,
  pullErrorMs: 20,
  flowMs: 5,
  localRetryMs: 100,
  expiryMs: 20,
};
