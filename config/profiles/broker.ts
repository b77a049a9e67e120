import { manifest as admin } from '../../plugins/admin/index.js';
import { manifest as commitlog } from '../../plugins/commitlog/index.js';
import { manifest as bitmap } from '../../plugins/filter/bitmap/index.js';
import { filterPlugin } from '../../plugins/filter/index.js';
import { manifest as flush } from '../../plugins/flush/index.js';
import { manifest as gauges } from '../../plugins/gauges/index.js';
import { manifest as groups } from '../../plugins/groups/index.js';
import { manifest as metrics } from '../../plugins/metrics/index.js';
import { manifest as offsets } from '../../plugins/offsets/index.js';
import { manifest as pull } from '../../plugins/pull/index.js';
import { manifest as registration } from '../../plugins/registration/index.js';
import { manifest as remoting } from '../../plugins/remoting/index.js';
import { manifest as reput } from '../../plugins/reput/index.js';
import { manifest as retention } from '../../plugins/retention/index.js';
import { manifest as schedule } from '../../plugins/schedule/index.js';
import { manifest as send } from '../../plugins/send/index.js';
import { manifest as topics } from '../../plugins/topics/index.js';
import { manifest as check } from '../../plugins/transaction/check/index.js';
import { manifest as transaction } from '../../plugins/transaction/index.js';

export type Filters = NonNullable<Parameters<typeof filterPlugin>[0]>;

/**
 * The broker with the filters that were asked for beside tags. The kernel starts in this order, needs first, and stops in the
 * reverse one: the store outlives the sockets, and the name servers are told first.
 */
export const broker = (filters: Filters) => [
  metrics,
  commitlog,
  flush,
  filterPlugin(filters),
  bitmap,
  reput,
  remoting,
  topics,
  groups,
  offsets,
  send,
  pull,
  schedule,
  transaction,
  retention,
  check,
  gauges,
  admin,
  registration,
];
