import { inject, injectable } from '../../kernel/container.js';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { ThreadHost, callsOf } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Clock, Logger, Options, Progress } from '../../kernel/tokens.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { openFilesMax } from '../../store/files/descriptors.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import type { IndexBoot, ReputBoot, ReputCalls } from '../../workers/reput/contract.js';
import { startReput } from '../../workers/reput/handle.js';
import { StoreState } from '../commitlog/contract.js';
import { ConsumerFilters } from '../filter/bitmap/contract.js';
import { IndexQueries } from './index-queries.js';
import { QueueReader } from './queue-reader.js';

/** Of the files that the process may have open: dispatching writes to every queue in turn. */
const WRITE_SHARE = 1 / 2;

const PROGRESS_LOG_MS = 1000;
/** A stop does not wait longer for queues that cannot be written: the next start dispatches the rest. */
const STOP_PATIENCE_MS = 3000;

/** Nor does a start wait longer for an index that cannot be written: its disk is full. */
const INDEX_PATIENCE_MS = 3000;
const STEPS = {
  dispatched: { step: 'dispatching the commit log', done: 'dispatched' },
  indexed: { step: 'indexing the commit log', done: 'indexed' },
};

/** Runs the dispatch worker. What recovery left behind is dispatched before anybody is served. */
@injectable()
export class Reput implements PluginMain {
  #service: RunningService | undefined;
  #progressTimer: NodeJS.Timeout | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(QueueReader) private readonly reader: QueueReader,
    @inject(IndexQueries) private readonly index: IndexQueries,
    @inject(ConsumerFilters) private readonly filters: ConsumerFilters,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Progress) private readonly progress: Progress,
  ) {}

  async start(): Promise<void> {
    const { options, state } = this;
    const { boot: bitmaps } = this.filters;
    const bell = this.threads.bellOf('schedule');
    const boot: ReputBoot = {
      log: state.log,
      queueDir: state.paths.consumeQueue,
      checkpointPath: state.paths.checkpoint,
      queueFileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
      queueFilesOpenMax: openFilesMax(options.queueFilesOpenMax, WRITE_SHARE),
      ext: state.queueExt,
      extBitmapBytes: options.bitMapLengthConsumeQueueExt >> 3,
      delayLevelsMs: parseDelayLevels(options.messageDelayLevel),
      watermarks: state.watermarks.memory,
      queueTable: state.queueTable.memory,
      arrivals: this.reader.arrivals,
      dispatchFrom: state.watermarks.get(Watermark.dispatched),
      visibleWhenFlushed: options.flushDiskType === 'SYNC_FLUSH',
      syncIntervalMs: options.flushIntervalConsumeQueue,
      ...(options.messageIndexEnable ? { index: this.#indexBoot() } : {}),
      ...(bitmaps === undefined ? {} : { bitmaps }),
      followers: [state.wake.address],
      topicFollowers: [SystemTopic.SCHEDULE, SystemTopic.TIMER].map((topic) => ({ topic, bell })),
    };
    const tellFilters = async (): Promise<void> => {
      if (bitmaps !== undefined) await this.filters.attach(callsOf<ReputCalls>(this.#service!));
    };
    this.#service = await startReput(this.threads, boot, () => void tellFilters());
    this.reader.attach(callsOf<ReputCalls>(this.#service));
    await tellFilters();
    const { dispatched, indexed } = Watermark;
    await this.#catchUp(this.#service, dispatched, Infinity);
    if (!options.messageIndexEnable) return;
    try {
      if (!state.indexInBackground) await this.#catchUp(this.#service, indexed, INDEX_PATIENCE_MS);
    } catch (error) {
      this.logger.warn({ error: messageOf(error) }, 'the broker serves without waiting for its message index');
    }
    if (state.watermarks.get(indexed) < state.watermarks.get(dispatched)) this.#tellIndexProgress();
  }

  async stop(): Promise<void> {
    if (this.#service === undefined) return;
    const service = this.#service;
    clearInterval(this.#progressTimer);
    try {
      await this.#catchUp(service, Watermark.dispatched, STOP_PATIENCE_MS);
      if (this.options.messageIndexEnable) await this.#catchUp(service, Watermark.indexed, STOP_PATIENCE_MS, true);
      await callsOf<ReputCalls>(service).syncNow();
    } catch (error) {
      this.state.recoverNext = true;
      this.logger.error(
        { error: messageOf(error) },
        'consume queues or index could not be brought to the end of the log; the next start recovers',
      );
      // What could be dispatched is synced all the same, so that the next start has less to do.
      await callsOf<ReputCalls>(service)
        .syncNow()
        .catch(() => undefined);
    }
    await service.stop();
    this.reader.close();
  }

  #indexBoot(): IndexBoot {
    const { dir, layout, memory } = this.index.place;
    const { indexInBackground: inBackground } = this.state;
    return { dir, layout, memory, syncIntervalMs: this.options.indexSyncIntervalMs, inBackground };
  }

  /** While messages from before what recovery walked are indexed beside the serving. */
  #tellIndexProgress(): void {
    const { watermarks } = this.state;
    this.#progressTimer = setInterval(() => {
      const [indexed, end] = [watermarks.get(Watermark.indexed), watermarks.get(Watermark.dispatched)];
      if (indexed === end) clearInterval(this.#progressTimer);
      else this.logger.info({ indexed, end }, 'building the message index: queries by key find what lies before');
    }, PROGRESS_LOG_MS);
    this.#progressTimer.unref();
  }

  /**
   * Until everything visible is dispatched, or indexed; says how far it is. Throws after `patienceMs` without progress, or in all.
   */
  async #catchUp(service: RunningService, cursor: Watermark, patienceMs: number, inAll = false): Promise<void> {
    const { watermarks } = this.state;
    const { step, done } = STEPS[cursor === Watermark.indexed ? 'indexed' : 'dispatched'];
    const limit = this.options.flushDiskType === 'SYNC_FLUSH' ? Watermark.flushed : Watermark.appended;
    const from = watermarks.get(cursor);
    // Once: it goes on by itself, and what could not be written it tries again in its own time.
    service.kick();
    let [reached, movedMonoMs] = [watermarks.get(cursor), this.clock.monoMs()];
    try {
      while (reached < watermarks.get(limit)) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        const now = this.clock.monoMs();
        if (watermarks.get(cursor) > reached && !inAll) movedMonoMs = now;
        reached = watermarks.get(cursor);
        if (now - movedMonoMs > patienceMs)
          throw new KernelError(
            'DISPATCH_STUCK',
            `nothing behind offset ${reached} could be ${done} for ${patienceMs} ms`,
          );
        this.progress.report(step, reached - from, watermarks.get(limit) - from);
      }
    } finally {
      this.progress.end(step);
    }
  }
}
