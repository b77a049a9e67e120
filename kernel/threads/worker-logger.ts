import { writeSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import type { Logger, LogLevel } from '../base/logger.js';

/** pino's numbers, so that a worker's lines look like the kernel's. */
const levels = { debug: 20, info: 30, warn: 40, error: 50, silent: Infinity } as const satisfies Record<
  LogLevel,
  number
>;

/** The kernel's log lines from a worker, without pino: it would cost each thread 14 ms at start and 1.3 MB. */
export function createWorkerLogger(level: LogLevel, fields: object, clock: Clock): Logger {
  const at = (name: Exclude<LogLevel, 'silent'>) => {
    const number = levels[name];
    if (number < levels[level]) return (): void => undefined;
    return (more: object, msg: string): void => write({ level: number, time: clock.wallMs(), ...fields, ...more, msg });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => createWorkerLogger(level, { ...fields, ...more }, clock),
  };
}

/** Straight to standard error: a worker's `process.stderr` needs its event loop, which does not turn. */
function write(line: object): void {
  try {
    writeSync(2, `${JSON.stringify(line, plain)}\n`);
  } catch {
    // A closed or full standard error must not end a worker; there is nowhere left to say so.
  }
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return { type: value.name, message: value.message, stack: value.stack };
  return value;
}
