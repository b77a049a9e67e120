import { KernelError } from '../../../kernel/base/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Does the work, which must end soon after its signal is aborted: brokers are stopped and stores deleted on ^C, too. */
export async function whileNotInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void =>
    controller.abort(new KernelError('BENCH_STOPPED', `stopped by ${signal}: the figures so far are dropped`));
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

/** The result of the work, or the reason of the abort at once. */
export async function unlessAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
