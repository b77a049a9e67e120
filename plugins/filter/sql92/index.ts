import { defineFilter } from '../contract.js';
import { sql92Rule } from './rule.js';

/** Conditions on message properties: `region = 'eu' AND (price BETWEEN 1 AND 5 OR urgent = TRUE)`. */
export default { ...defineFilter('sql92', sql92Rule), module: import.meta.url };
