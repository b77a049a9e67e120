import { KernelError } from '../../kernel/base/errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The setting messageDelayLevel (`1s 5s … 2h`) as milliseconds; level n is element n - 1 (4.9: ScheduleMessageService#parseDelayLevel).
 * Throws DELAY_LEVEL when an element is no number with one of the units s, m, h, d.
 */
export function parseDelayLevels(text: string): number[] {
  return text.split(' ').map((element) => {
    const match = /^(\d{1,9})([smhd])$/.exec(element);
    if (match === null) {
      throw new KernelError('DELAY_LEVEL', `messageDelayLevel has "${element}" in "${text}"`, {
        remedy: 'write levels as 1s 5s 10m 2h, one space between them',
      });
    }
    return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0);
  });
}

/** When a message of the topic SCHEDULE_TOPIC_XXXX falls due, ms (4.9: ScheduleMessageService#computeDeliverTimestamp). */
export function deliverTimestamp(levels: readonly number[], level: number, storeTimestamp: number): number {
  return storeTimestamp + (levels[level - 1] ?? 1000);
}
