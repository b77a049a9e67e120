import { ExitCode, KernelError, messageOf } from './base/errors.js';
import type { Logger } from './base/logger.js';
import { endProcess } from './end-process.js';

/** What a signal stops. `Kernel` is one. */
export interface Stoppable {
  stop(reason: string): Promise<void>;
  stuckThreads(): readonly string[];
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * SIGTERM and SIGINT stop the kernel and end the process: 0 after a clean stop, 1 when a plugin failed in it, and 71 at once on
 * a second signal. Returns a function that takes the handlers away.
 */
export function handleSignals(kernel: Stoppable, logger: Logger): () => void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      logger.warn({ signal }, 'a second signal: ending at once');
      endProcess(ExitCode.forced, kernel.stuckThreads());
      return;
    }
    stopping = true;
    kernel.stop(signal).then(
      () => endProcess(ExitCode.done, kernel.stuckThreads()),
      (error: unknown) => {
        logger.error({}, error instanceof KernelError ? error.line() : messageOf(error));
        endProcess(ExitCode.failed, kernel.stuckThreads());
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
