import type { Declaration } from './declare.js';
import { identityOptions, ignoredBrokerOptions, servingOptions, topicOptions } from './option-list-broker.js';
import { netOptions, namesrvOptions } from './option-list-net.js';
import { boundOptions, periodOptions, processOptions } from './option-list-own.js';
import {
  haOptions,
  ignoredStoreOptions,
  indexOptions,
  readingOptions,
  retentionOptions,
  scheduleOptions,
  storeOptions,
} from './option-list-store.js';

type Values<L extends readonly Declaration[]> = {
  readonly [D in L[number] as D['name']]: D['default'];
};

/**
 * Every setting of a server in one flat object, with RocketMQ's names and units. Complete and checked when a plugin gets it:
 * nothing is undefined, derived ones are filled in, an empty string means "not set".
 */
export interface Options
  extends
    Values<typeof identityOptions>,
    Values<typeof topicOptions>,
    Values<typeof servingOptions>,
    Values<typeof ignoredBrokerOptions>,
    Values<typeof storeOptions>,
    Values<typeof readingOptions>,
    Values<typeof indexOptions>,
    Values<typeof scheduleOptions>,
    Values<typeof retentionOptions>,
    Values<typeof haOptions>,
    Values<typeof ignoredStoreOptions>,
    Values<typeof netOptions>,
    Values<typeof namesrvOptions>,
    Values<typeof processOptions>,
    Values<typeof boundOptions>,
    Values<typeof periodOptions> {}

/** Groups in the order in which they are printed. */
export const optionGroups: readonly { readonly title: string; readonly list: readonly Declaration[] }[] = [
  { title: 'Identity and addresses', list: identityOptions },
  { title: 'Topics and groups', list: topicOptions },
  { title: 'Serving', list: servingOptions },
  { title: 'Store', list: storeOptions },
  { title: 'Reading', list: readingOptions },
  { title: 'Index of keys', list: indexOptions },
  { title: 'Delayed messages', list: scheduleOptions },
  { title: 'Retention', list: retentionOptions },
  { title: 'Replication', list: haOptions },
  { title: 'Sockets', list: netOptions },
  { title: 'Name server', list: namesrvOptions },
  { title: 'Process', list: processOptions },
  { title: 'Bounds', list: boundOptions },
  { title: 'Periods', list: periodOptions },
  { title: 'Read from broker files, without meaning here', list: ignoredBrokerOptions },
  { title: 'Read from store settings, without meaning here', list: ignoredStoreOptions },
];

/** Every declaration by name. */
export const declarations: ReadonlyMap<string, Declaration> = new Map(
  optionGroups.flatMap((group) => group.list.map((declaration) => [declaration.name, declaration] as const)),
);
