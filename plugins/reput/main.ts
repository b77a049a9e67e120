import { inject, injectable } from '../../kernel/container.js';
import { messageOf } from '../../kernel/base/errors.js';
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
      visibleWhenFlushed: options.flushDiskType === 'SYNC_FLUSH',
      syncIntervalMs: options.flushIntervalConsumeQueue,
      followers: [state.wake.address],
    });
    this.reader.attach(callsOf<ReputCalls>(this.#service));
    await this.#catchUp(this.#service);
  }

  async stop(): Promise<void> {
    if (this.#service === undefined) return;
    const service = this.#service;
    try {
      await this.#catchUp(service);
      await callsOf<ReputCalls>(service).syncNow();
    } catch (error) {
      this.logger.error({ error: messageOf(error) }, 'the consume queues could not be brought to the end of the log');
    }
    await service.stop();
    this.reader.close();
  }

  /** Until everything visible is dispatched; says once a second how far it is. */
  async #catchUp(service: RunningService): Promise<void> {
    const { watermarks } = this.state;
    const limit = this.options.flushDiskType === 'SYNC_FLUSH' ? Watermark.flushed : Watermark.appended;
    const begun = this.clock.monoMs();
    let told = begun;
    while (watermarks.get(Watermark.dispatched) < watermarks.get(limit)) {
      service.kick();
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (this.clock.monoMs() - told < PROGRESS_LOG_MS) continue;
      told = this.clock.monoMs();
      this.logger.info({ dispatched: watermarks.get(Watermark.dispatched), end: watermarks.get(limit) }, 'dispatching');
    }
  }
}
