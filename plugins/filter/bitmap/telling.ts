import { messageOf } from '../../../kernel/base/errors.js';
import type { Logger } from '../../../kernel/base/logger.js';
import type { Remote } from '../../../kernel/threads/contract.js';
import type { FilterChange, ReputCalls } from '../../../workers/reput/contract.js';
import type { GroupFilter } from './group-filter.js';

type Service = Remote<Pick<ReputCalls, 'setFilters'>>;

/** Hears that a filter is in force, and since when; or that it cannot be used. */
export type Told = (filter: GroupFilter, sinceMs: number | undefined) => void;

/** In one call; more wait for its answer. */
const CHANGES_MAX = 1000;

interface Place {
  readonly topic: string;
  readonly group: string;
  /** Undefined: there is none any more. */
  readonly filter: GroupFilter | undefined;
}

/** Keeps the dispatching service's filters like the table's: one call at a time, with what changed meanwhile in the next. */
export class Telling {
  /** What the service does not know yet. */
  #untold = new Map<string, Place>();
  #service: Service | undefined;
  #attached = 0;
  #running = false;

  constructor(
    private readonly told: Told,
    private readonly logger: Logger,
  ) {}

  changed(place: Place): void {
    this.#untold.set(`${place.group}\0${place.topic}`, place);
    const service = this.#service;
    if (service === undefined || this.#running) return;
    this.#tell(service, this.#attached, false).catch((error: unknown) => this.#failed(error));
  }

  /** A service that knows none yet. Resolves when it knows all, and dispatches. */
  async attach(service: Service, all: Iterable<GroupFilter>): Promise<void> {
    this.#service = service;
    this.#untold = new Map();
    for (const filter of all) {
      const { topic, group } = filter;
      this.#untold.set(`${group}\0${topic}`, { topic, group, filter });
    }
    try {
      await this.#tell(service, ++this.#attached, true);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** `first`: the service waits for the last of them. */
  async #tell(service: Service, life: number, first: boolean): Promise<void> {
    this.#running = true;
    try {
      // All that one heartbeat changes goes in one call.
      if (!first) await Promise.resolve();
      do {
        const places = [...this.#untold.values()].slice(0, CHANGES_MAX);
        for (const { group, topic } of places) this.#untold.delete(`${group}\0${topic}`);
        const { sinceMs, unusable } = await service.setFilters(places.map(changeOf), first && this.#untold.size === 0);
        if (life !== this.#attached) return;
        for (const [index, { filter }] of places.entries())
          if (filter !== undefined) this.told(filter, unusable.includes(index) ? undefined : sinceMs);
      } while (this.#untold.size > 0);
    } finally {
      if (life === this.#attached) this.#running = false;
    }
  }

  /** Either the broker stops, or the service died, is started again and attached again. */
  #failed(error: unknown): void {
    this.logger.debug({ error: messageOf(error) }, 'the dispatching service was not told of filters');
  }
}

function changeOf({ topic, group, filter }: Place): FilterChange {
  if (filter === undefined) return { topic, group };
  const { expressionType, expression, positions } = filter;
  return { topic, group, filter: { expressionType, expression, positions } };
}
