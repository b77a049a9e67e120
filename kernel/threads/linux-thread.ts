import { readlinkSync } from 'node:fs';

/** The id under which /proc shows the calling thread; 0 where there is no /proc. */
export function linuxThreadId(): number {
  try {
    return Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
