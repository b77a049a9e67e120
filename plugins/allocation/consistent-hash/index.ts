import { defineAllocation } from '../contract.js';
import { consistentHashRule } from './rule.js';

/** `consistent-hash`, or `consistent-hash:20` for so many places of each client on the ring. */
export default defineAllocation('consistent-hash', (options) => {
  if (options === '') return consistentHashRule();
  if (!/^\d+$/.test(options)) throw new RangeError(`"${options}" is no number of virtual nodes`);
  return consistentHashRule(Number(options));
});
