import { messageOf } from '../../kernel/base/errors.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { FilterCompiler, type KnownFilter } from '../../plugins/filter/compiler.js';
import { RecordProperties, type CompiledFilter, type FilterPlugin } from '../../plugins/filter/contract.js';
import { setBits } from '../../plugins/filter/bitmap/rule.js';
import type { DispatchFields } from '../../store/dispatch/read-dispatch.js';
import type { BitmapBoot, FilterChange, FiltersInForce } from './contract.js';

/** Sets the bits of every message: they say nothing then. */
const everything: CompiledFilter = { everything: true };

interface GroupFilter {
  filter: CompiledFilter;
  readonly positions: readonly number[];
}

/** The plugins of the boot's modules by expression type. One that cannot be loaded here is left out: its filters get no bitmap. */
export async function loadFilters(
  { modules }: BitmapBoot,
  { logger }: ServiceContext,
): Promise<Map<string, KnownFilter>> {
  const filters = new Map<string, KnownFilter>();
  for (const { address, number, foreign } of modules) {
    try {
      const { default: plugin } = (await import(address)) as { default: FilterPlugin };
      const { name, rule } = plugin;
      filters.set(rule.expressionType, { name, rule, number, foreign });
    } catch (error) {
      logger.error({ module: address, error: messageOf(error) }, 'a filter plugin cannot be loaded for dispatching');
    }
  }
  return filters;
}

/** Asks the filters of a record's topic which of them it passes (4.9: CommitLogDispatcherCalcBitMap). */
export class FilterBitmaps {
  readonly #bitmap: Uint8Array;
  readonly #topics = new Map<string, Map<string, GroupFilter>>();
  readonly #properties = new RecordProperties();
  readonly #compiler: FilterCompiler;
  #ready = false;
  #lastStoreMs = 0;
  /** Most records have the topic of the one before. */
  #lastTopic: string | undefined;
  #lastFilters: readonly GroupFilter[] = [];

  constructor(
    { bits, thread }: BitmapBoot,
    private readonly plugins: ReadonlyMap<string, KnownFilter>,
    private readonly context: ServiceContext,
  ) {
    this.#bitmap = new Uint8Array(bits / 8);
    this.#compiler = new FilterCompiler(context.logger, context.clock, thread);
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
    const plugin = this.plugins.get(expressionType);
    if (plugin === undefined) return false;
    try {
      // One that blocked would hold up the messages of all topics again and again: it is asked at pulls only.
      const known = { filter: everything, positions };
      known.filter = this.#compiler.compile(plugin, expression, () => (known.filter = everything));
      const others = this.#topics.get(topic) ?? new Map<string, GroupFilter>();
      this.#topics.set(topic, others.set(group, known));
      return true;
    } catch (error) {
      this.context.logger.error(
        { topic, group, expression, error: messageOf(error) },
        'a filter cannot be dispatched by',
      );
      return false;
    }
  }
}
