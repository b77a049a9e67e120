import { readFileSync } from 'node:fs';

/** Linux counts process time in hundredths of a second on every supported platform (USER_HZ). */
const MICROS_PER_TICK = 10_000;

export interface ProcessStats {
  /** User and system time so far, in microseconds. */
  readonly cpuMicros: number;
  /** Anonymous resident memory in bytes: heap and buffers, without the page cache of mapped files. */
  readonly rssAnonBytes: number;
}

/** Reads /proc; undefined when there is no such process (or no /proc). */
export function processStats(pid: number): ProcessStats | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command may hold spaces and brackets; the fields that count begin after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const anon = /^RssAnon:\s+(\d+) kB/m.exec(status);
    return {
      cpuMicros: (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK,
      rssAnonBytes: anon === null ? 0 : Number(anon[1]) * 1024,
    };
  } catch {
    return undefined;
  }
}
