import { defineFilter } from '../contract.js';
import { tagRule } from './rule.js';

/** Tags: `*`, `orders`, `orders || refunds`. */
export default { ...defineFilter('tag', tagRule), module: import.meta.url };
