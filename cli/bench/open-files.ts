import { readFileSync } from 'node:fs';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';

/** What this process has open beside its connections, generously. */
const OTHER_FILES = 64;

/** Every connection is an open file; said before the first fails with EMFILE. */
export function checkOpenFiles(connections: number, limit = openFilesLimit()): void {
  if (limit === undefined || connections + OTHER_FILES <= limit) return;
  throw new KernelError(
    'BENCH_USAGE',
    `${connections} connections are too many for a process that may open ${limit} files`,
    {
      remedy: `ulimit -n ${connections + OTHER_FILES}; the broker needs as many`,
      exitCode: ExitCode.usage,
    },
  );
}

/** Undefined where there is no /proc. */
function openFilesLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}
