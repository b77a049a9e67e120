import { inject, injectable } from '../../kernel/container.js';
import { messageOf } from '../../kernel/base/errors.js';
import { QueueTable } from '../../kernel/ring/queue-table.js';
import { WakeLoop } from '../../kernel/ring/wake-loop.js';
import { Watermarks } from '../../kernel/ring/watermarks.js';
import { Clock, Logger, Options, Progress } from '../../kernel/tokens.js';
import { markEnded, markRunning } from '../../store/checkpoint/checkpoint.js';
import type { ExtFilesOptions } from '../../store/consumequeue/ext-files.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { checkLayout } from '../../store/files/layout.js';
import { MemoryFiles } from '../../store/files/memory-files.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { storePaths, type StorePaths } from '../../store/files/paths.js';
import { acquireStoreLock, type StoreLock } from '../../store/files/store-lock.js';
import type { RecoveredStore } from '../../store/recovery.js';
import type { LogLocation } from '../../workers/commitlog/contract.js';
import type { StoreState } from './contract.js';
import { recoverStore } from './recover-store.js';

/** Opens the store's folder, takes its lock, recovers the log: everything that must be right before a worker starts. */
@injectable()
export class OpenStore implements StoreState {
  readonly inMemory: boolean;
  readonly files: StoreFiles;
  readonly paths: StorePaths;
  readonly log: LogLocation;
  readonly queueExt: ExtFilesOptions;
  readonly watermarks = new Watermarks(Watermarks.allocate());
  readonly queueTable: QueueTable;
  readonly wake: WakeLoop;
  recovered = false;
  recoverNext = false;
  indexInBackground = false;
  #lock: StoreLock | undefined;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Progress) private readonly progress: Progress,
  ) {
    this.inMemory = options.memory;
    this.files = options.memory ? new MemoryFiles(options.memoryStoreBytesMax, clock) : nodeFiles;
    this.paths = storePaths(options.storePathRootDir, options.storePathCommitLog);
    this.log = {
      dir: this.paths.commitLog,
      temporaryDir: this.paths.temporary,
      segmentBytes: options.mappedFileSizeCommitLog,
      ...(options.memory ? { files: this.files } : {}),
    };
    this.queueExt = {
      dir: this.paths.consumeQueueExt,
      fileBytes: options.mappedFileSizeConsumeQueueExt,
      enabled: options.enableConsumeQueueExt,
    };
    this.queueTable = new QueueTable(QueueTable.allocate(options.queueTableRowsMax));
    this.wake = new WakeLoop((error) =>
      logger.error(
        { error: messageOf(error), stack: error instanceof Error ? error.stack : undefined },
        'a wake-up failed',
      ),
    );
  }

  async open(): Promise<void> {
    if (!this.inMemory) await this.#claim();
    try {
      this.#recoverAndMark();
    } catch (error) {
      // Nobody stops what did not start.
      await this.#lock?.release();
      throw error;
    }
    this.wake.start();
  }

  #recoverAndMark(): void {
    const begun = this.clock.monoMs();
    const { queues, notes, firstDamage, ...found } = this.#recover();
    this.recovered = !found.normalExit;
    for (const note of [firstDamage, ...notes]) if (note !== undefined) this.logger.warn({ note }, 'store recovery');
    this.logger.info(
      { ...found, queues: queues.length, ms: Math.round(this.clock.monoMs() - begun) },
      found.normalExit ? 'store opened' : 'store recovered after an abnormal end',
    );
    if (!this.inMemory) this.#makeFolders();
    markRunning(this.files, this.paths.abort);
  }

  #recover(): RecoveredStore {
    const step = 'reading the commit log';
    try {
      return recoverStore(this, this.options, this.clock, (done, total) => this.progress.report(step, done, total));
    } finally {
      this.progress.end(step);
    }
  }

  /** `clean`: everything appended is synced and dispatched. Otherwise the next start recovers. */
  async close(clean: boolean): Promise<void> {
    await this.wake.stop();
    if (clean) markEnded(this.files, this.paths.abort);
    await this.#lock?.release();
  }

  /** Whatever refuses this store finds it before anything is made in it. */
  async #claim(): Promise<void> {
    checkLayout(this.files, this.paths, this.log.segmentBytes);
    this.#lock = await acquireStoreLock(this.paths.lock);
  }

  #makeFolders(): void {
    const { commitLog, consumeQueue, config, temporary } = this.paths;
    for (const dir of [commitLog, consumeQueue, config, temporary]) this.files.makeDir(dir);
  }
}
