import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { DispatchFields, readDispatch } from '../../store/dispatch/read-dispatch.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { IndexWriter } from '../../store/index/index-writer.js';
import type { LogLocation } from '../commitlog/contract.js';
import type { Checkpoints } from './checkpoints.js';
import type { IndexBoot } from './contract.js';
import { LogChunks } from './log-chunks.js';

const RETRY_MS = 1000;
/** Writing back holds dispatching for some 50 ms. For fewer entries than this, which are soon built again, that waits longer. */
const FEW_ENTRIES = 200_000;
const FEW_FACTOR = 6;

export interface IndexerOptions {
  readonly boot: IndexBoot;
  readonly files: StoreFiles;
  readonly log: LogLocation;
  readonly watermarks: Watermarks;
  readonly checkpoints: Checkpoints;
  readonly context: ServiceContext;
}

/**
 * Moves the cursor `indexed`. In step with `dispatched` it takes the records out of the dispatcher's own pass; behind it, it reads the
 * log a second time until it has caught up. Whatever fails here, the queues go on.
 */
export class Indexer {
  readonly #writer: IndexWriter;
  readonly #fields = new DispatchFields([]);
  #chunks: LogChunks | undefined;
  /** The pass under way is indexed, too. */
  #inPass = false;
  #failing = false;
  #retryAtMonoMs = 0;
  #lastSyncMonoMs: number;
  /** Store time of the last record that was added whole. */
  #addedMs = 0;
  #inBackground: boolean;

  constructor(private readonly options: IndexerOptions) {
    const { boot, files, log, checkpoints, context } = options;
    this.#lastSyncMonoMs = context.clock.monoMs();
    this.#inBackground = boot.inBackground;
    if (!boot.inBackground) checkpoints.waitForIndex();
    this.#writer = new IndexWriter({
      files,
      dir: boot.dir,
      temporaryDir: log.temporaryDir,
      layout: boot.layout,
      memory: boot.memory,
      wallMs: () => context.clock.wallMs(),
      vouch: {
        lower: (timestamp) => checkpoints.lowerIndex(timestamp),
        raise: (timestamp) =>
          checkpoints.raiseIndex(timestamp, this.#inBackground ? Number.POSITIVE_INFINITY : this.#addedMs),
      },
    });
  }

  get behind(): boolean {
    return this.#indexed < this.#dispatched;
  }

  /** Before a chunk of the log is dispatched. */
  begin(): void {
    this.#inPass = !this.behind && !this.#failing;
  }

  /** A record of the chunk. */
  add(buffer: Buffer, fields: DispatchFields): void {
    if (!this.#inPass) return;
    try {
      this.#writer.add(buffer, fields);
      this.#addedMs = fields.storeTimestamp;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The chunk up to `end` is dispatched. */
  commit(end: number): void {
    if (this.#inPass) this.#commit(end);
  }

  /** The chunk could not be dispatched and will come again. */
  abort(): void {
    if (this.#inPass) this.#writer.undo();
    this.#inPass = false;
  }

  /** One chunk more when it is behind; what is due of the write-back. Returns when it wants to be called again, ms. */
  step(): number {
    const now = this.options.context.clock.monoMs();
    if (now < this.#retryAtMonoMs) return this.#retryAtMonoMs - now;
    if (this.behind && !this.#catchUp()) return RETRY_MS;
    if (this.#writer.dirty && now >= this.#writeBackAtMonoMs && !this.#writeBack()) return RETRY_MS;
    if (this.behind) return 0;
    return this.#writer.dirty ? Math.max(1, this.#writeBackAtMonoMs - now) : Number.POSITIVE_INFINITY;
  }

  /** Throws when not all that is indexed is synced. */
  syncNow(): void {
    if ((this.#writer.dirty && !this.#writeBack()) || this.#writer.failed)
      throw new KernelError('INDEX_NOT_SYNCED', `a sync of ${this.options.boot.dir} failed; the log before tells why`);
  }

  close(): void {
    this.#chunks?.close();
    this.#writer.close();
  }

  get #writeBackAtMonoMs(): number {
    const { syncIntervalMs } = this.options.boot;
    const few = this.#writer.unwritten < FEW_ENTRIES;
    return this.#lastSyncMonoMs + (few ? FEW_FACTOR * syncIntervalMs : syncIntervalMs);
  }

  get #indexed(): number {
    return this.options.watermarks.get(Watermark.indexed);
  }

  get #dispatched(): number {
    return this.options.watermarks.get(Watermark.dispatched);
  }

  #catchUp(): boolean {
    const { files, log, watermarks } = this.options;
    const logMin = watermarks.get(Watermark.logMin);
    // What was deleted need not be found.
    if (this.#indexed < logMin) watermarks.advance(Watermark.indexed, Math.min(logMin, this.#dispatched));
    this.#inPass = true;
    try {
      this.#chunks ??= new LogChunks(files, log, this.#indexed);
      this.#chunks.rewind(this.#indexed);
      const end = this.#chunks.read(
        this.#dispatched,
        (buffer, at, physicalOffset) => {
          if (readDispatch(buffer, at, physicalOffset, this.#fields) === undefined) this.add(buffer, this.#fields);
        },
        // The dispatcher said it already.
        () => undefined,
      );
      if (this.#inPass) this.#commit(end);
    } catch (error) {
      this.#fail(error);
    }
    return !this.#failing;
  }

  #commit(end: number): void {
    try {
      this.#writer.flush();
    } catch (error) {
      return this.#fail(error);
    }
    this.options.watermarks.advance(Watermark.indexed, end);
    this.#failing = false;
    if (!this.#writer.dirty && !this.#inBackground) this.options.checkpoints.indexComplete(this.#addedMs);
    if (!this.behind) this.#caughtUp();
  }

  #caughtUp(): void {
    this.#chunks?.close();
    this.#chunks = undefined;
    if (!this.#inBackground) return;
    this.#inBackground = false;
    this.#lastSyncMonoMs = Number.NEGATIVE_INFINITY;
    this.options.context.logger.info({ indexed: this.#indexed }, 'the message index is complete');
  }

  #writeBack(): boolean {
    try {
      this.#writer.writeBack();
      this.#lastSyncMonoMs = this.options.context.clock.monoMs();
      return true;
    } catch (error) {
      this.#tell(error);
      return false;
    }
  }

  #fail(error: unknown): void {
    this.#writer.undo();
    this.#inPass = false;
    this.#tell(error);
  }

  #tell(error: unknown): void {
    this.#retryAtMonoMs = this.options.context.clock.monoMs() + RETRY_MS;
    if (!this.#failing)
      this.options.context.logger.error(
        { dir: this.options.boot.dir, indexed: this.#indexed, error: messageOf(error) },
        'the message index cannot be written; queries by key miss what comes now until it works again',
      );
    this.#failing = true;
  }
}
