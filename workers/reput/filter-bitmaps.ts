import { messageOf } from '../../kernel/base/errors.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import {
  RecordProperties,
  type CompiledFilter,
  type FilterPlugin,
  type FilterRule,
} from '../../plugins/filter/contract.js';
import { setBits } from '../../plugins/filter/bitmap/rule.js';
import { compileGuarded } from '../../plugins/filter/guard.js';
import type { DispatchFields } from '../../store/dispatch/read-dispatch.js';
import type { BitmapBoot, FilterChange, FiltersInForce } from './contract.js';

interface GroupFilter {
  readonly filter: CompiledFilter;
  readonly positions: readonly number[];
}

/** The rules of the boot's modules. One that cannot be loaded here is left out: its filters get no bitmap. */
export async function loadRules({ modules }: BitmapBoot, { logger }: ServiceContext): Promise<Map<string, FilterRule>> {
  const rules = new Map<string, FilterRule>();
  for (const address of modules) {
    try {
      const { default: plugin } = (await import(address)) as { default: FilterPlugin };
      rules.set(plugin.rule.expressionType, plugin.rule);
    } catch (error) {
      logger.error({ module: address, error: messageOf(error) }, 'a filter plugin cannot be loaded for dispatching');
    }
  }
  return rules;
}

/** Asks the filters of a record's topic which of them it passes (4.9: CommitLogDispatcherCalcBitMap). */
export class FilterBitmaps {
  readonly #bitmap: Uint8Array;
  readonly #topics = new Map<string, Map<string, GroupFilter>>();
  readonly #properties = new RecordProperties();
  readonly #faults = new Map<string, number>();
  #ready = false;
  #lastStoreMs = 0;
  /** Most records have the topic of the one before. */
  #lastTopic: string | undefined;
  #lastFilters: readonly GroupFilter[] = [];

  constructor(
    bits: number,
    private readonly rules: ReadonlyMap<string, FilterRule>,
    private readonly context: ServiceContext,
  ) {
    this.#bitmap = new Uint8Array(bits / 8);
  }

  /** All filters were told once. */
  get ready(): boolean {
    return this.#ready;
  }

  set(changes: readonly FilterChange[], complete: boolean): FiltersInForce {
    this.#ready ||= complete;
    this.#lastTopic = undefined;
    const unusable: number[] = [];
    for (const [index, change] of changes.entries()) if (!this.#put(change)) unusable.push(index);
    return { sinceMs: Math.max(this.context.clock.wallMs(), this.#lastStoreMs), unusable };
  }

  /** The record's bitmap, valid until the next one's; undefined when nobody has a filter on its topic. */
  of(buffer: Buffer, fields: DispatchFields): Uint8Array | undefined {
    if (fields.storeTimestamp > this.#lastStoreMs) this.#lastStoreMs = fields.storeTimestamp;
    if (fields.topic !== this.#lastTopic) {
      this.#lastTopic = fields.topic;
      this.#lastFilters = [...(this.#topics.get(fields.topic)?.values() ?? [])];
    }
    if (this.#lastFilters.length === 0) return undefined;
    this.#bitmap.fill(0);
    const properties = this.#properties.at(buffer, fields.propertiesStart, fields.propertiesEnd);
    for (const { filter, positions } of this.#lastFilters) {
      if (filter.matchesTagsCode?.(fields.tagsLow) === false || filter.matches?.(properties) === false) continue;
      setBits(this.#bitmap, positions);
    }
    return this.#bitmap;
  }

  /** False when the filter cannot be used. */
  #put({ topic, group, filter }: FilterChange): boolean {
    const groups = this.#topics.get(topic);
    groups?.delete(group);
    if (groups?.size === 0) this.#topics.delete(topic);
    if (filter === undefined) return true;
    const { expressionType, expression, positions } = filter;
    const rule = this.rules.get(expressionType);
    if (rule === undefined) return false;
    try {
      const compiled = compileGuarded(rule, expression, (problem) => this.#blame(expressionType, expression, problem));
      const known = this.#topics.get(topic) ?? new Map<string, GroupFilter>();
      this.#topics.set(topic, known.set(group, { filter: compiled, positions }));
      return true;
    } catch (error) {
      this.context.logger.error(
        { topic, group, expression, error: messageOf(error) },
        'a filter cannot be dispatched by',
      );
      return false;
    }
  }

  /** Counts all, logs the first, the tenth, the hundredth …, so that a broken rule cannot fill the log. */
  #blame(expressionType: string, expression: string, problem: string): void {
    const count = (this.#faults.get(expressionType) ?? 0) + 1;
    this.#faults.set(expressionType, count);
    if (/^10*$/.test(String(count)))
      this.context.logger.error(
        { expressionType, expression: expression.slice(0, 200), problem, count },
        'a filter plugin broke its contract while dispatching',
      );
  }
}
