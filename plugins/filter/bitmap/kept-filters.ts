import { inject, injectable } from '../../../kernel/container.js';
import { messageOf } from '../../../kernel/base/errors.js';
import { Clock, Logger, Options } from '../../../kernel/tokens.js';
import { FilterTable } from './filter-table.js';
import { FiltersFile } from './filters-file.js';
import { decodeFiltersFile, encodeFiltersFile, type StoredFilter } from './filters-json.js';
import { GroupFilter } from './group-filter.js';

/** 4.9: ConsumerFilterManager#decode takes all groups for gone half a minute ago. */
const GONE_BEFORE_MS = 30_000;
/** The one that 4.9 knows; it would keep others without computing bits for them. */
const STORED_TYPE = 'SQL92';

/** The table's filters in `config/consumerFilter.json`. */
@injectable()
export class KeptFilters {
  constructor(
    @inject(FilterTable) private readonly table: FilterTable,
    @inject(FiltersFile) private readonly file: FiltersFile,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  /** Once, at the start. Without the file nothing is lost but what bits tell of earlier messages. */
  load(): void {
    let stored: StoredFilter[];
    try {
      stored = this.file.load(decodeFiltersFile) ?? [];
    } catch (error) {
      this.logger.warn({ error: messageOf(error) }, 'consumerFilter.json is not used: filter bits count from now on');
      this.table.changed = true;
      return;
    }
    const bits = stored.map((filter) => this.#readBits(filter));
    // 4.9 forgets all, too, when the widths were changed.
    const same = bits.every((filter) => filter !== undefined);
    const usable = same ? bits.filter(({ expressionType }) => expressionType === STORED_TYPE) : [];
    const restored = usable.filter((filter) => this.table.restore(filter)).length;
    if (restored === stored.length) return;
    this.table.changed = true;
    this.logger.info(
      { kept: stored.length, used: restored },
      'filters of consumerFilter.json are left out: they are no SQL92 expressions, or the width of filter bits was changed',
    );
  }

  /** When there is something to save; waits for what is being written all the same. */
  async save(): Promise<void> {
    this.table.forgetDeadFor(this.options.filterDataCleanTimeSpan);
    if (!this.table.changed && !this.file.dirty) return this.file.settled();
    this.table.changed = false;
    await this.file.save(() => encodeFiltersFile(this.#toStore()));
  }

  #readBits(stored: StoredFilter): GroupFilter | undefined {
    const positions = this.table.positionsOf(stored.group, stored.topic);
    if (stored.bloom?.bits !== this.table.bits || String(stored.bloom.positions) !== String(positions))
      return undefined;
    const filter = new GroupFilter(stored, stored.clientVersion, positions, this.table.bits);
    filter.bornMs = stored.bornMs;
    filter.deadMs = stored.deadMs > 0 ? stored.deadMs : Math.max(stored.bornMs, this.clock.wallMs() - GONE_BEFORE_MS);
    return filter;
  }

  *#toStore(): IterableIterator<Parameters<typeof encodeFiltersFile>[0] extends Iterable<infer T> ? T : never> {
    for (const filter of this.table.all()) {
      if (filter.bornMs === Infinity || filter.expressionType !== STORED_TYPE) continue;
      const { topic, group, expression, expressionType, bornMs, clientVersion, positions } = filter;
      // 4.9 takes a filter for dead by comparing the two.
      const deadMs = filter.isDead ? Math.max(filter.deadMs, bornMs) : 0;
      const bloom = { bits: this.table.bits, positions };
      yield { topic, group, expression, expressionType, bornMs, deadMs, clientVersion, bloom };
    }
  }
}
