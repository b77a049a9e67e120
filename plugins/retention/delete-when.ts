import { localHour } from '../../kernel/base/clock.js';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';

/**
 * The setting deleteWhen (`04`, or several as `04;16`) as hours of the day. Throws DELETE_WHEN for anything else; 4.9 fails at each
 * look then, and deletes nothing (4.9: UtilAll#isItTimeToDo).
 */
export function parseDeleteWhen(text: string): ReadonlySet<number> {
  const hours = text.split(';').map((part) => part.trim());
  const wrong = hours.find((hour) => !/^\d{1,2}$/.test(hour) || Number(hour) > 23);
  if (wrong === undefined) return new Set(hours.map(Number));
  throw new KernelError('DELETE_WHEN', `deleteWhen has "${wrong}" in "${text}", which is no hour of the day`, {
    remedy: 'write hours from 00 to 23, several with ; between, such as 04;16',
    exitCode: ExitCode.usage,
  });
}

/** True within one of the hours, in local time. */
export function isDeleteTime(hours: ReadonlySet<number>, wallMs: number): boolean {
  return hours.has(localHour(wallMs));
}
