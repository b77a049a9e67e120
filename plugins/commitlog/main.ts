import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { startCommitLog } from '../../workers/commitlog/handle.js';
import { Gate } from './gate.js';
import { CommitLogReader } from './log-reader.js';
import { NextSegment } from './next-segment.js';
import { OpenStore } from './open-store.js';
import { ServiceEnds } from './store-ends.js';

/** Room that the writer takes at once: large enough for large pages, small enough to be no pause. */
const CLEAR_AHEAD_BYTES = 128 * 1024;

/** The store's life: open and recover, run the writer, and at the end say whether all of it reached the disk. */
@injectable()
export class CommitLog implements PluginMain {
  #service: RunningService | undefined;

  constructor(
    @inject(OpenStore) private readonly store: OpenStore,
    @inject(Gate) private readonly gate: Gate,
    @inject(CommitLogReader) private readonly reader: CommitLogReader,
    @inject(NextSegment) private readonly next: NextSegment,
    @inject(ServiceEnds) private readonly ends: ServiceEnds,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    await this.store.open();
    const followers = this.options.flushDiskType === 'SYNC_FLUSH' ? ['flush', 'reput'] : ['reput'];
    this.#service = await startCommitLog(this.threads, {
      log: this.store.log,
      clearAheadBytes: this.#clearAheadBytes(),
      rings: [
        { memory: this.gate.memory, producer: this.store.wake.address },
        ...[...this.ends.rings].map(([name, memory]) => ({ memory, producer: this.threads.bellOf(name) })),
      ],
      watermarks: this.store.watermarks.memory,
      queueTable: this.store.queueTable.memory,
      followers: followers.map((name) => this.threads.bellOf(name)),
    });
    this.gate.attach(this.#service);
    this.next.start();
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    await this.next.stop();
    this.reader.close();
    const clean = this.#allIsSafe();
    if (!clean) this.logger.warn({}, 'not everything was synced and dispatched: the next start recovers the store');
    await this.store.close(clean);
  }

  /** In memory, or filled already, there is nothing to gain. */
  #clearAheadBytes(): number {
    if (this.store.inMemory || this.options.warmMapedFileEnable) return 0;
    return Math.min(CLEAR_AHEAD_BYTES, Math.ceil(this.options.mappedFileSizeCommitLog / 4));
  }

  /** Readers were stopped before: flush and dispatch have reached the end, or never will. */
  #allIsSafe(): boolean {
    const { watermarks } = this.store;
    const end = watermarks.get(Watermark.appended);
    return (
      this.#service !== undefined &&
      !this.store.recoverNext &&
      watermarks.get(Watermark.flushed) === end &&
      watermarks.get(Watermark.dispatched) === end
    );
  }
}
