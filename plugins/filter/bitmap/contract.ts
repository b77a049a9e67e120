import type { InjectionToken } from 'tsyringe';
import type { Remote } from '../../../kernel/threads/contract.js';
import type { SubscriptionData } from '../../../protocol/bodies/heartbeat.js';
import type { BitmapBoot, ReputCalls } from '../../../workers/reput/contract.js';
import type { CompiledFilter } from '../contract.js';

/** The filters of all groups, also of those without members for now (4.9: ConsumerFilterManager), kept in `config/consumerFilter.json`. */
export interface ConsumerFilters {
  /** What the group subscribes to from now on; called with each heartbeat. */
  register(group: string, subscriptions: Iterable<SubscriptionData>): void;
  /** The group has no member any more. */
  unregister(group: string): void;
  /** The filter, asking first the bits that were computed for it when the message was dispatched, where there are some. */
  narrowed(group: string, subscription: SubscriptionData, filter: CompiledFilter): CompiledFilter;
  /** What the dispatching service is started with; undefined: it computes no bitmaps. */
  readonly boot: BitmapBoot | undefined;
  /** Tells the service all filters, and from then on each change; called again when it was started anew. */
  attach(service: Remote<Pick<ReputCalls, 'setFilters'>>): Promise<void>;
}
export const ConsumerFilters: InjectionToken<ConsumerFilters> = Symbol('ConsumerFilters');
