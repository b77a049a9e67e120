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
} from './filter/contract.js';
export { filterConformance, type FilterCases, type SampleMessage } from './filter/conformance.js';
export {
  defineAllocation,
  type AllocationPlugin,
  type AllocationRule,
  type MessageQueue,
} from './allocation/contract.js';
export { allocationConformance, type AllocationCases } from './allocation/conformance.js';
export type { TestRunner } from './conformance/contract.js';
