import { inject, injectable } from '../../kernel/container.js';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { ThreadHost, callsOf } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Logger, Options } from '../../kernel/tokens.js';
import type { FlushCalls } from '../../workers/flush/contract.js';
import { startFlush } from '../../workers/flush/handle.js';
import { StoreState } from '../commitlog/contract.js';
import type { LogFlush } from './contract.js';

/** Runs the flush worker; at the end everything appended is synced. */
@injectable()
export class Flush implements PluginMain, LogFlush {
  #service: RunningService | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    const { options, state } = this;
    this.#service = await startFlush(this.threads, {
      log: state.log,
      abortPath: state.paths.abort,
      watermarks: state.watermarks.memory,
      sync: options.flushDiskType === 'SYNC_FLUSH',
      intervalMs: options.flushIntervalCommitLog,
      leastPages: options.flushCommitLogLeastPages,
      thoroughIntervalMs: options.flushCommitLogThoroughInterval,
      followers: [state.wake.address, this.threads.bellOf('reput')],
    });
  }

  flushNow(): Promise<number> {
    if (this.#service === undefined)
      return Promise.reject(new KernelError('FLUSH_NOT_RUNNING', 'the flush service does not run yet'));
    return callsOf<FlushCalls>(this.#service).flushNow();
  }

  async stop(): Promise<void> {
    if (this.#service === undefined) return;
    try {
      await callsOf<FlushCalls>(this.#service).flushNow();
    } catch (error) {
      this.logger.error({ error: messageOf(error) }, 'the last flush failed');
    }
    await this.#service.stop();
  }
}
