import { defineAllocation } from '../contract.js';
import { circleRule } from './rule.js';

export default defineAllocation('circle', circleRule);
