import { systemClock } from '../../kernel/base/clock.js';
import { DelayLoad, levelQueue, type DelaySettings } from './delay-load.js';
import type { BrokerTarget } from './load.js';
import { addressOf, endKey, QueueEnds } from './queue-ends.js';
import { TailLoad, type TailSettings } from './tail-load.js';

/** Asks the brokers where the queues end, and begins to read there. `address`: see QueueEnds. */
export async function openTail(address: string, settings: Omit<TailSettings, 'ends'>): Promise<TailLoad> {
  return TailLoad.open({ ...settings, ends: await endsOf(address, settings.targets) }, systemClock);
}

/** Likewise; of a level the queue in which its messages wait, too. */
export async function openDelays(address: string, settings: Omit<DelaySettings, 'ends'>): Promise<DelayLoad> {
  const { targets, delay } = settings;
  const more = delay.level === undefined ? [] : [levelQueue(delay.level)];
  const read = targets.map((target) => ({ ...target, queues: [...target.queues, ...more] }));
  return DelayLoad.open({ ...settings, ends: await endsOf(address, read) }, systemClock);
}

async function endsOf(address: string, targets: readonly BrokerTarget[]): Promise<TailSettings['ends']> {
  const asked = new QueueEnds(address, targets);
  try {
    const all = await asked.all();
    return (target, queue) => all.get(endKey(addressOf(target), queue)) ?? 0;
  } finally {
    await asked.close();
  }
}
