import { inject, injectable } from '../../../kernel/container.js';
import type { Remote } from '../../../kernel/threads/contract.js';
import { Clock, Logger, Options } from '../../../kernel/tokens.js';
import type { SubscriptionData } from '../../../protocol/bodies/heartbeat.js';
import type { BitmapBoot, ReputCalls } from '../../../workers/reput/contract.js';
import { FilterError, FilterRegistry, type CompiledFilter } from '../contract.js';
import type { ConsumerFilters } from './contract.js';
import { GroupFilter, type FilterIdentity } from './group-filter.js';
import { hashesOf, positionsOf } from './rule.js';
import { Telling } from './telling.js';

/** A group whose filter has no room here reads every message. */
const FILTERS_MAX = 50_000;
const CHARACTERS_MAX = 32 * 1024 * 1024;

/**
 * 4.9: ConsumerFilterManager. Which of two clients' filters a group has was decided before, as for its pulls; 4.9 decides it once more,
 * by versions alone.
 */
@injectable()
export class FilterTable implements ConsumerFilters {
  readonly boot: BitmapBoot | undefined;
  readonly #bits: number;
  readonly #hashes: number;
  /** By group, by topic. */
  readonly #groups = new Map<string, Map<string, GroupFilter>>();
  readonly #telling: Telling;
  #count = 0;
  #characters = 0;
  #full = false;
  /** Something changed that the file has to keep. */
  changed = false;

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(FilterRegistry) private readonly registry: FilterRegistry,
  ) {
    this.#bits = options.bitMapLengthConsumeQueueExt;
    this.#hashes = hashesOf(options.maxErrorRateOfBloomFilter);
    this.#telling = new Telling((filter, sinceMs) => this.#told(filter, sinceMs), logger);
    if (options.enableCalcFilterBitMap && options.enableConsumeQueueExt)
      this.boot = { bits: this.#bits, modules: registry.modules, thread: registry.dispatching };
  }

  get bits(): number {
    return this.#bits;
  }

  positionsOf(group: string, topic: string): number[] {
    return positionsOf(group, topic, this.#bits, this.#hashes);
  }

  *all(): IterableIterator<GroupFilter> {
    for (const topics of this.#groups.values()) yield* topics.values();
  }

  attach(service: Remote<Pick<ReputCalls, 'setFilters'>>): Promise<void> {
    return this.#telling.attach(service, this.all());
  }

  /** 4.9: ConsumerFilterManager#register; topics that the group left become dead. */
  register(group: string, subscriptions: Iterable<SubscriptionData>): void {
    const left = new Set(this.#groups.get(group)?.values());
    for (const { topic, expressionType, subString: expression, subVersion } of subscriptions) {
      const before = this.#groups.get(group)?.get(topic);
      if (before !== undefined) left.delete(before);
      if (isTag(expressionType) || expression === '') continue;
      this.#keep({ topic, group, expressionType, expression }, subVersion, before);
    }
    for (const filter of left) this.#die(filter);
  }

  unregister(group: string): void {
    for (const filter of this.#groups.get(group)?.values() ?? []) this.#die(filter);
  }

  narrowed(group: string, subscription: SubscriptionData, filter: CompiledFilter): CompiledFilter {
    const known = this.#groups.get(group)?.get(subscription.topic);
    return known?.isOf(subscription) === true ? known.narrow(filter) : filter;
  }

  /** What the file holds. Filters that cannot be compiled any more are left out: nothing may be taken for computed that is not. */
  restore(filter: GroupFilter): boolean {
    if (!this.#compiles(filter)) return false;
    this.#put(filter);
    return true;
  }

  /** 4.9: ConsumerFilterManager#clean. */
  forgetDeadFor(spanMs: number): void {
    const now = this.clock.wallMs();
    for (const filter of this.all()) if (filter.isDead && now - filter.deadMs >= spanMs) this.#remove(filter);
  }

  #keep(identity: FilterIdentity, version: number, before: GroupFilter | undefined): void {
    if (before !== undefined && before.isOf({ ...identity, subString: identity.expression })) {
      if (version === before.clientVersion && !before.isDead) return;
      before.clientVersion = version;
      if (before.isDead) before.deadMs = 0;
      this.changed = true;
      return;
    }
    if (before !== undefined) this.#remove(before);
    if (!this.#hasRoom(identity.expression) || !this.#compiles(identity)) return;
    const { group, topic } = identity;
    const filter = new GroupFilter(identity, version, this.positionsOf(group, topic), this.#bits);
    if (this.boot === undefined) filter.bornMs = this.clock.wallMs();
    this.#put(filter);
    this.changed = true;
    this.#tell(filter, filter);
    this.logger.info({ group, topic, expression: identity.expression.slice(0, 200) }, 'filter of a consumer group');
  }

  #die(filter: GroupFilter): void {
    if (filter.isDead) return;
    filter.deadMs = this.clock.wallMs();
    this.changed = true;
  }

  #put(filter: GroupFilter): void {
    const { group, topic, expression } = filter;
    let topics = this.#groups.get(group);
    if (topics === undefined) this.#groups.set(group, (topics = new Map()));
    topics.set(topic, filter);
    this.#count++;
    this.#characters += expression.length;
  }

  #remove(filter: GroupFilter): void {
    const topics = this.#groups.get(filter.group);
    topics?.delete(filter.topic);
    if (topics?.size === 0) this.#groups.delete(filter.group);
    // Pulls that hold it ask no bits any more, for these will be another's.
    filter.bornMs = Infinity;
    this.#count--;
    this.#characters -= filter.expression.length;
    this.changed = true;
    this.#tell(filter, undefined);
  }

  #tell({ topic, group }: FilterIdentity, filter: GroupFilter | undefined): void {
    if (this.boot !== undefined) this.#telling.changed({ topic, group, filter });
  }

  #told(filter: GroupFilter, sinceMs: number | undefined): void {
    if (this.#groups.get(filter.group)?.get(filter.topic) !== filter) return;
    if (sinceMs === undefined) return this.#remove(filter);
    if (filter.bornMs !== Infinity) return;
    filter.bornMs = sinceMs;
    this.changed = true;
  }

  #compiles({ expressionType, expression }: FilterIdentity): boolean {
    try {
      this.registry.compile(expressionType, expression);
      return true;
    } catch (error) {
      if (error instanceof FilterError) return false;
      throw error;
    }
  }

  #hasRoom(expression: string): boolean {
    const room = this.#count < FILTERS_MAX && this.#characters + expression.length <= CHARACTERS_MAX;
    if (!room && !this.#full)
      this.logger.warn(
        { filters: this.#count, characters: this.#characters },
        'too many filters of consumer groups: the messages of further ones get no filter bits',
      );
    this.#full = !room;
    return room;
  }
}

/** 4.9: ExpressionType#isTagType. */
function isTag(expressionType: string): boolean {
  return expressionType === '' || expressionType === 'TAG';
}
