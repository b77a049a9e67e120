import { defineAllocation } from '../contract.js';
import { averagelyRule } from './rule.js';

export default defineAllocation('averagely', averagelyRule);
