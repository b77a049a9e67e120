import { systemClock } from '../../kernel/base/clock.js';
import type { BrokerTarget, Load } from './load.js';
import { OneWayLoad } from './oneway-load.js';
import { openDelays, openTail } from './open-tail.js';
import type { Side } from './prepare.js';
import { PullLoad } from './pull-load.js';
import { SendLoad } from './send-load.js';
import type { BenchSettings } from './settings.js';
import { StoredCount } from './stored-count.js';
import { TransactionLoad } from './transaction-load.js';

/** A load, and what ends when it is over. */
export interface OpenLoad {
  readonly load: Load;
  close(): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

export async function openLoad(
  settings: BenchSettings,
  side: Side,
  targets: readonly BrokerTarget[],
): Promise<OpenLoad> {
  const { shape, pull, connections, window, perSecond, seconds } = settings;
  if (settings.delay !== undefined) {
    const { delay } = settings;
    const load = await openDelays(side.address, { targets, shape, pull, connections, window, perSecond, delay });
    return { load, close: nothing };
  }
  if (settings.tail) {
    const load = await openTail(side.address, { targets, shape, pull, connections, window, perSecond });
    return { load, close: nothing };
  }
  if (settings.kind === 'consume') {
    const again = seconds > 0;
    const load = await PullLoad.open({ targets, shape: pull, connections, window, again }, systemClock);
    return { load, close: nothing };
  }
  const send = { targets, shape, connections, window };
  if (settings.kind === 'transactions') return { load: await TransactionLoad.open(send, systemClock), close: nothing };
  if (!shape.oneWay) return { load: await SendLoad.open(send, systemClock), close: nothing };
  const count = new StoredCount(side.address, targets);
  try {
    const load = await OneWayLoad.open(send, systemClock, () => count.now());
    return { load, close: () => count.close() };
  } catch (error) {
    await count.close();
    throw error;
  }
}
