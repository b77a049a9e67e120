import type { InjectionToken } from 'tsyringe';
import type { PluginManifest } from '../../kernel/plugin.js';

export { RecordProperties } from './record-properties.js';

/** The user properties of one stored message, read on demand from its bytes. */
export interface MessageProperties {
  /** The value, or undefined when the message does not carry the property. */
  get(name: string): string | undefined;
}

/** What is stored beside a ConsumeQueue entry while enableConsumeQueueExt is on; to be read at once, not to be kept. */
export interface EntryExtension {
  /** When the message was stored, ms. */
  readonly storeTimestamp: number;
  /** How many bits say which filters the message passes; 0 when nothing computed them. */
  readonly bits: number;
  /** One of them. */
  has(bit: number): boolean;
}

/** One subscription's filter, compiled once. Must be pure: same message, same answer. */
export interface CompiledFilter {
  /** True: every message matches, and neither function needs to be asked. */
  readonly everything?: boolean;
  /**
   * From the ConsumeQueue entry alone: Java's hash code of the tags, 0 for none. False means certainly no match; true means look further
   * (or match, without `matches`).
   */
  matchesTagsCode?(tagsCode: number, extension?: EntryExtension): boolean;
  /** From the record's properties; called only when `matchesTagsCode` did not say no. Missing: the tags code decides. */
  matches?(properties: MessageProperties): boolean;
}

/** What a filter author exports through `defineFilter`; importable from any thread, no state, no I/O. */
export interface FilterRule {
  /** The `expressionType` that clients name, such as TAG or SQL92. */
  readonly expressionType: string;
  /** Compiles an expression; throws FilterError with position and reason when it is not valid. */
  compile(expression: string): CompiledFilter;
}

/** A filter is a plugin of its own kind: the pure rule and the manifest that registers it. */
export interface FilterPlugin {
  readonly kind: 'filter';
  readonly name: string;
  readonly rule: FilterRule;
  /** Set by who loads it: the address of the module that exports it by default, for threads that load it, too. */
  readonly module?: string;
}

/** Why an expression was refused; answered as SUBSCRIPTION_PARSE_FAILED (23). */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  constructor(
    readonly reason: string,
    /** Zero-based character position in the expression, or -1 when it has none. */
    readonly position: number,
  ) {
    super(position < 0 ? reason : `${reason} at position ${position}`);
  }
}

/** Declares a filter plugin. Works from plain JavaScript; checks the shape so that a mistake is named at load. */
export function defineFilter(name: string, rule: FilterRule): FilterPlugin {
  if (typeof name !== 'string' || name === '') throw new TypeError('defineFilter: name must be a non-empty string');
  if (typeof rule?.expressionType !== 'string' || rule.expressionType === '')
    throw new TypeError(`defineFilter(${name}): rule.expressionType must be a non-empty string`);
  if (typeof rule.compile !== 'function') throw new TypeError(`defineFilter(${name}): rule.compile must be a function`);
  return { kind: 'filter', name, rule };
}

/** Shared memory about the filters that one thread asks: it writes, others read. */
export interface FilterThread {
  /** Which call is running (CallBoard). */
  readonly calls: SharedArrayBuffer;
  /** What went wrong (FilterCounts). */
  readonly counts: SharedArrayBuffer;
}

/** Where another thread finds a filter plugin. */
export interface FilterModule {
  readonly address: string;
  /** Among the broker's filter plugins. */
  readonly number: number;
  /** Not built in. */
  readonly foreign: boolean;
}

export type AnyPlugin = PluginManifest | FilterPlugin;

/** Every filter of this broker, by the `expressionType` that clients name. */
export interface FilterRegistry {
  /** Throws KernelError when the plugin's name or expression type is taken, or when it has not the shape of one. */
  register(plugin: FilterPlugin): void;
  /** The plugin for an expression type; TAG when the type is missing or empty, undefined when nobody knows it. */
  get(expressionType: string | null | undefined): FilterPlugin | undefined;
  /**
   * Compiled once and kept, as are refusals. The result never throws and answers only true or false: a rule that breaks its
   * contract is named in the log, counted, and taken for "does not match". Throws FilterError, also for an unknown type.
   */
  compile(expressionType: string | null | undefined, expression: string): CompiledFilter;
  /** For the dispatching thread, which asks filters, too: the plugins whose modules are known, and its memory. */
  readonly modules: readonly FilterModule[];
  readonly dispatching: FilterThread;
  /** How often each plugin broke its contract, by plugin name; only those that did. */
  readonly faults: ReadonlyMap<string, number>;
  /** How often a call of each plugin blocked its thread for a second or more, counted when it returned. */
  readonly blocks: ReadonlyMap<string, number>;
}
export const FilterRegistry: InjectionToken<FilterRegistry> = Symbol('FilterRegistry');
