import { systemClock } from '../../kernel/base/clock.js';
import { addressOf, endKey, QueueEnds } from './queue-ends.js';
import { TailLoad, type TailSettings } from './tail-load.js';

/** Asks the brokers where the queues end, and begins to read there. `address`: see QueueEnds. */
export async function openTail(address: string, settings: Omit<TailSettings, 'ends'>): Promise<TailLoad> {
  const asked = new QueueEnds(address, settings.targets);
  try {
    const all = await asked.all();
    const ends: TailSettings['ends'] = (target, queue) => all.get(endKey(addressOf(target), queue)) ?? 0;
    return await TailLoad.open({ ...settings, ends }, systemClock);
  } finally {
    await asked.close();
  }
}
