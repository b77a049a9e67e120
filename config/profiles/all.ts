import { broker, type Filters } from './broker.js';
import { namesrv } from './namesrv.js';

/** Name server first: the broker registers at it as soon as it serves. */
export const all = (filters: Filters) => [...namesrv, ...broker(filters)];
