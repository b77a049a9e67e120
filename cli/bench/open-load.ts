import { systemClock } from '../../kernel/base/clock.js';
import type { BrokerTarget, Load } from './load.js';
import { OneWayLoad } from './oneway-load.js';
import type { Side } from './prepare.js';
import { PullLoad } from './pull-load.js';
import { addressOf, endKey, QueueEnds } from './queue-ends.js';
import { SendLoad } from './send-load.js';
import type { BenchSettings } from './settings.js';
import { StoredCount } from './stored-count.js';
import { TailLoad } from './tail-load.js';

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
  const { shape, pull, connections, window, seconds } = settings;
  if (settings.tail) return { load: await openTail(settings, side, targets), close: nothing };
  if (settings.kind === 'consume') {
    const again = seconds > 0;
    const load = await PullLoad.open({ targets, shape: pull, connections, window, again }, systemClock);
    return { load, close: nothing };
  }
  const send = { targets, shape, connections, window };
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

async function openTail(settings: BenchSettings, side: Side, targets: readonly BrokerTarget[]): Promise<TailLoad> {
  const { shape, pull, connections, window, perSecond } = settings;
  const ends = new QueueEnds(side.address, targets);
  try {
    const all = await ends.all();
    return await TailLoad.open(
      {
        targets,
        shape,
        pull,
        connections,
        window,
        perSecond,
        ends: (target, queue) => all.get(endKey(addressOf(target), queue)) ?? 0,
      },
      systemClock,
    );
  } finally {
    await ends.close();
  }
}
