import { inject, injectable } from '../../kernel/container.js';
import { messageOf } from '../../kernel/base/errors.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { TURN_CEILING_MS } from '../../kernel/threads/limits.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { newLogMin, type DeletionRules } from '../../store/retention/old-segments.js';
import { storeTasks, type StoreTasks } from '../../workers/pool/handle.js';
import { LogReader, StoreState } from '../commitlog/contract.js';
import { LogFlush } from '../flush/contract.js';
import { Queues } from '../reput/contract.js';
import { isDeleteTime, parseDeleteWhen } from './delete-when.js';
import { DiskWatch } from './disk-watch.js';
import { Keepers } from './keepers.js';
import { MemoryRoom } from './memory-room.js';
import { Pause } from './pause.js';
import { QueueCleaner } from './queue-cleaner.js';

const HOUR_MS = 3_600_000;
/** 4.9: MappedFileQueue.DELETE_FILES_BATCH_MAX. */
const FILES_PER_PASS_MAX = 10;
/** 4.9: CleanCommitLogService.MAX_MANUAL_DELETE_FILE_TIMES. */
const MANUAL_PASSES = 20;

/** Every thread has a turn within this time, and lets go of what lies below the log's minimum. */
const LET_GO_MS = TURN_CEILING_MS + 100;
/** Before, a disk may not show yet what a deletion freed. */
const SETTLE_MS = 2000;

/** Why files may go now. */
interface Reason {
  readonly timeUp: boolean;
  readonly reclaim: boolean;
  readonly manual: boolean;
  /** So many go whatever their age. */
  readonly forced: number;
}

/**
 * Deletes the log's oldest files (4.9: CleanCommitLogService). First the log begins later, then the queues do, then the files go:
 * whoever reads finds either the record or an offset that says that it is gone.
 */
@injectable()
export class LogCleaner {
  readonly #tasks: StoreTasks;
  readonly #hours: ReadonlySet<number>;
  #manualPasses = 0;
  #running: Promise<void> | undefined;
  /** The log's minimum up to which the queues, and the files, were brought; none before the first pass of this run. */
  #queuesFollow = -1;
  #filesFollow = -1;
  #deletedMonoMs = Number.NEGATIVE_INFINITY;
  #stuck = false;
  #failing = false;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(LogReader) private readonly reader: LogReader,
    @inject(LogFlush) private readonly flush: LogFlush,
    @inject(Queues) private readonly queues: Queues,
    @inject(QueueCleaner) private readonly queueCleaner: QueueCleaner,
    @inject(DiskWatch) private readonly disks: DiskWatch,
    @inject(MemoryRoom) private readonly memory: MemoryRoom,
    @inject(Keepers) private readonly keepers: Keepers,
    @inject(Pool) pool: Pool,
    @inject(Pause) private readonly pause: Pause,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#tasks = storeTasks(pool, state.log.files);
    this.#hours = parseDeleteWhen(options.deleteWhen);
  }

  /** One pass; who comes while one runs waits for it. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#pass().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** The next passes delete old files at whatever hour (4.9: executeDeleteFilesManually). */
  askFor(): void {
    this.#manualPasses = MANUAL_PASSES;
    // One that runs already may have looked before.
    void (this.#running ?? Promise.resolve()).then(() => this.run());
  }

  async stop(): Promise<void> {
    await this.#running;
  }

  async #pass(): Promise<void> {
    if (this.pause.ended) return;
    try {
      await this.disks.look();
      const reason = this.#reason();
      if (this.#manualPasses > 0) this.#manualPasses--;
      // What an earlier pass had to leave: while that cannot be removed, giving up more would free nothing.
      await this.#followLogMin();
      if (reason !== undefined && (await this.#raiseLogMin(reason))) await this.#followLogMin();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.logger.error({ error: messageOf(error) }, 'old files could not be deleted; it is tried again');
      this.#failing = true;
    }
  }

  #reason(): Reason | undefined {
    const { level } = this.disks;
    const timeUp = isDeleteTime(this.#hours, this.clock.wallMs());
    const manual = this.#manualPasses > 0;
    const byDisk = this.options.cleanFileForciblyEnable && this.#settled() ? level.forced : 0;
    const forced = Math.max(this.memory.forced(), byDisk);
    const { reclaim } = level;
    return timeUp || reclaim || manual || forced > 0 ? { timeUp, reclaim, manual, forced } : undefined;
  }

  #settled(): boolean {
    return this.clock.monoMs() - this.#deletedMonoMs >= SETTLE_MS;
  }

  /** True when the log begins later now. */
  async #raiseLogMin(reason: Reason): Promise<boolean> {
    const { watermarks, paths, log } = this.state;
    const logMin = watermarks.get(Watermark.logMin);
    const ages = await this.#tasks.oldSegments({ dir: paths.commitLog });
    const rules: DeletionRules = {
      segmentBytes: log.segmentBytes,
      writtenBeforeMs: this.clock.wallMs() - this.options.fileReservedTime * HOUR_MS,
      forced: reason.forced,
      filesMax: FILES_PER_PASS_MAX,
      settledEnd: Number.POSITIVE_INFINITY,
    };
    const wanted = newLogMin(ages, logMin, rules);
    const min =
      wanted === logMin ? logMin : newLogMin(ages, logMin, { ...rules, settledEnd: await this.#settledEnd(wanted) });
    if (this.#settled()) this.#tellStuck(min === logMin && (reason.reclaim || reason.forced > 0));
    if (min === logMin) return false;
    this.logger.info({ ...reason, from: logMin, to: min }, 'old files of the commit log are deleted');
    watermarks.advance(Watermark.logMin, min);
    return true;
  }

  /**
   * Nothing behind it may go: it is not synced yet, or the queues could not be brought to disk with it, and a power cut would make
   * them count from 0 again when no record tells better. Or somebody needs records that lie there.
   */
  async #settledEnd(wanted: number): Promise<number> {
    const free = await this.keepers.clear(wanted);
    return Math.min(free, await this.flush.flushNow(), await this.queues.synced());
  }

  /** The queues, then the files. A stop ends the pauses, not the work. */
  async #followLogMin(): Promise<void> {
    const { watermarks, inMemory } = this.state;
    const logMin = watermarks.get(Watermark.logMin);
    if (this.#queuesFollow !== logMin) {
      await this.queueCleaner.raiseMinima(logMin);
      this.#queuesFollow = logMin;
      this.reader.forgetRemoved();
      // Whoever closes a removed file last has the system's work of freeing it: that shall be the pool, not the log's writer.
      const anyOpen = !inMemory && this.#filesFollow >= 0;
      if (anyOpen) await this.pause.for(LET_GO_MS);
    }
    if (this.#filesFollow !== logMin) await this.#removeBelow(logMin);
    this.#filesFollow = logMin;
    this.queueCleaner.dropOldFiles();
  }

  async #removeBelow(logMin: number): Promise<void> {
    const { log, paths, inMemory } = this.state;
    const args = { logDir: log.dir, indexDir: paths.index, segmentBytes: log.segmentBytes, logMin };
    const next = (): Promise<string[]> => this.#tasks.expireFiles(args);
    const removed: string[] = [];
    for (let names = await next(); names.length > 0; names = await next()) {
      removed.push(...names);
      this.#deletedMonoMs = this.clock.monoMs();
      if (!inMemory) await this.pause.for(this.options.deleteCommitLogFilesInterval);
    }
    if (removed.length > 0) this.logger.info({ removed, dir: log.dir }, 'files below the beginning of the log removed');
  }

  /** Once per change: the disk needs space, and there is nothing that may go. */
  #tellStuck(stuck: boolean): void {
    if (stuck && !this.#stuck)
      this.logger.warn(
        {
          fileReservedTime: this.options.fileReservedTime,
          cleanFileForciblyEnable: this.options.cleanFileForciblyEnable,
        },
        'the disk fills, and no file of the commit log may be deleted',
      );
    this.#stuck = stuck;
  }
}
