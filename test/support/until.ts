import { setImmediate } from 'node:timers';
import { systemClock } from '../../kernel/base/clock.js';

/** Waits for a condition; fails naming it when the deadline passes. The only way tests wait. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 5000,
): Promise<void> {
  const end = systemClock.monoMs() + deadlineMs;
  for (;;) {
    if (await condition()) return;
    if (systemClock.monoMs() > end) throw new Error(`waited ${deadlineMs} ms in vain: ${what}`);
    await new Promise<void>((resolve) => {
      setTimeout(() => setImmediate(resolve), 2);
    });
  }
}
