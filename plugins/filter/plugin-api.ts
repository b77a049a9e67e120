/**
 * `mqkernel/plugin`: what the author of a plugin needs.
 *
 *     import { defineFilter, FilterError } from 'mqkernel/plugin';
 *     export default defineFilter('prefix', { expressionType: 'PREFIX', compile(expression) { … } });
 */
export {
  defineFilter,
  FilterError,
  type CompiledFilter,
  type EntryExtension,
  type FilterPlugin,
  type FilterRule,
  type MessageProperties,
} from './contract.js';
export { filterConformance, type FilterCases, type SampleMessage, type TestRunner } from './conformance.js';
export {
  defineAllocation,
  type AllocationPlugin,
  type AllocationRule,
  type MessageQueue,
} from '../allocation/contract.js';
