import { systemClock } from '../../kernel/base/clock.js';

const LOOK_MS = 5;

/** Waits until the condition holds or the time is over; says which. */
export async function settled(condition: () => boolean, limitMs: number): Promise<boolean> {
  const end = systemClock.monoMs() + limitMs;
  while (!condition()) {
    if (systemClock.monoMs() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}
