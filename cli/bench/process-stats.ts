import { readFileSync } from 'node:fs';

/** Linux counts process time in hundredths of a second on every supported platform (USER_HZ). */
const MICROS_PER_TICK = 10_000;

export interface ProcessStats {
  /** User and system time so far, in microseconds. */
  readonly cpuMicros: number;
  /** Anonymous resident memory in bytes: heap and buffers, without the page cache of mapped files. */
  readonly rssAnonBytes: number;
}

/** CPU time so far of one thread, in microseconds; undefined when it is gone (or there is no /proc). */
export function threadCpuMicros(pid: number, linuxId: number): number | undefined {
  try {
    return cpuMicrosIn(`/proc/${pid}/task/${linuxId}/stat`);
  } catch {
    return undefined;
  }
}

/** Reads /proc; undefined when there is no such process (or no /proc). */
export function processStats(pid: number): ProcessStats | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const anon = /^RssAnon:\s+(\d+) kB/m.exec(status);
    return {
      cpuMicros: cpuMicrosIn(`/proc/${pid}/stat`),
      rssAnonBytes: anon === null ? 0 : Number(anon[1]) * 1024,
    };
  } catch {
    return undefined;
  }
}

function cpuMicrosIn(file: string): number {
  const stat = readFileSync(file, 'latin1');
  // The command may hold spaces and brackets; the fields that count begin after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}
