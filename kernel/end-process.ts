import type { ExitCode } from './base/errors.js';

/**
 * Ends the process now. `process.exit` joins the worker threads, and would not return while one of them sits in a system call:
 * with a stuck thread the process kills itself instead, and its exit code is that of the signal.
 */
export function endProcess(code: ExitCode, stuckThreads: readonly string[]): void {
  if (stuckThreads.length > 0) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
