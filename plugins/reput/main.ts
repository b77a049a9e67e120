import { inject, injectable } from '../../kernel/container.js';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { ThreadHost, callsOf } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import type { ReputCalls } from '../../workers/reput/contract.js';
import { startReput } from '../../workers/reput/handle.js';
import { StoreState } from '../commitlog/contract.js';
import { QueueReader } from './queue-reader.js';

const PROGRESS_LOG_MS = 1000;
/** A stop does not wait longer for queues that cannot be written: the next start dispatches the rest. */
const STOP_PATIENCE_MS = 3000;

/** Runs the dispatch worker. What recovery left behind is dispatched before anybody is served. */
@injectable()
export class Reput implements PluginMain {
  #service: RunningService | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(QueueReader) private readonly reader: QueueReader,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    const { options, state } = this;
    this.#service = await startReput(this.threads, {
      log: state.log,
      queueDir: state.paths.consumeQueue,
      checkpointPath: state.paths.checkpoint,
      queueFileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
      queueFilesOpenMax: options.queueFilesOpenMax,
      delayLevelsMs: parseDelayLevels(options.messageDelayLevel),
      watermarks: state.watermarks.memory,
      queueTable: state.queueTable.memory,
      arrivals: this.reader.arrivals,
      dispatchFrom: state.watermarks.get(Watermark.dispatched),
      visibleWhenFlushed: options.flushDiskType === 'SYNC_FLUSH',
      syncIntervalMs: options.flushIntervalConsumeQueue,
      followers: [state.wake.address],
    });
    this.reader.attach(callsOf<ReputCalls>(this.#service));
    await this.#catchUp(this.#service, Infinity);
  }

  async stop(): Promise<void> {
    if (this.#service === undefined) return;
    const service = this.#service;
    try {
      await this.#catchUp(service, STOP_PATIENCE_MS);
      await callsOf<ReputCalls>(service).syncNow();
    } catch (error) {
      this.state.recoverNext = true;
      this.logger.error({ error: messageOf(error) }, 'the consume queues could not be brought to the end of the log');
    }
    await service.stop();
    this.reader.close();
  }

  /** Until everything visible is dispatched; says once a second how far it is. Throws after `patienceMs` without progress. */
  async #catchUp(service: RunningService, patienceMs: number): Promise<void> {
    const { watermarks } = this.state;
    // Once: it goes on by itself, and what could not be written it tries again in its own time.
    service.kick();
    const limit = this.options.flushDiskType === 'SYNC_FLUSH' ? Watermark.flushed : Watermark.appended;
    let told = this.clock.monoMs();
    let [reached, movedMonoMs] = [watermarks.get(Watermark.dispatched), told];
    while (reached < watermarks.get(limit)) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const now = this.clock.monoMs();
      if (watermarks.get(Watermark.dispatched) > reached) movedMonoMs = now;
      reached = watermarks.get(Watermark.dispatched);
      if (now - movedMonoMs > patienceMs)
        throw new KernelError(
          'DISPATCH_STUCK',
          `nothing behind offset ${reached} could be dispatched for ${patienceMs} ms`,
        );
      if (now - told < PROGRESS_LOG_MS) continue;
      told = now;
      this.logger.info({ dispatched: reached, end: watermarks.get(limit) }, 'dispatching');
    }
  }
}
