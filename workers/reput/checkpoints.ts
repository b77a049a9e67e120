import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from '../../store/checkpoint/checkpoint.js';
import type { StoreFiles } from '../../store/files/contract.js';

/**
 * The checkpoint while the store runs. Its queue time is never newer than what the index has synced: a 4.9 broker that recovers the
 * store dispatches from there on into its index, too, and would leave a hole otherwise. Times are store times in ms.
 */
export class Checkpoints {
  /** What the checkpoint said when this life began. */
  readonly #before: Checkpoint;
  #physicMs: number;
  #queuesMs: number;
  #indexMs: number;
  /** Everything indexed up to this store time is synced; Infinity when the queue time does not wait for the index. */
  #indexedMs = Number.POSITIVE_INFINITY;
  #failing = false;

  constructor(
    private readonly files: StoreFiles,
    private readonly path: string,
    private readonly logger: Logger,
  ) {
    this.#before = readCheckpoint(files, path);
    const { physicMsgTimestamp, logicsMsgTimestamp, indexMsgTimestamp, queuesSyncedMs } = this.#before;
    this.#physicMs = physicMsgTimestamp;
    this.#queuesMs = queuesSyncedMs ?? logicsMsgTimestamp;
    this.#indexMs = indexMsgTimestamp;
  }

  /** The last write failed: one that is too old costs the next start time and nothing else; call `write` again later. */
  get failing(): boolean {
    return this.#failing;
  }

  queuesSynced(physicMs: number, queuesMs: number): void {
    this.#physicMs = physicMs;
    this.#queuesMs = queuesMs;
    this.write();
  }

  /** Before an index file is overwritten: only what is not newer may be believed. Throws when that cannot be written. */
  lowerIndex(timestamp: number): void {
    this.#indexMs = timestamp;
    if (this.#indexedMs !== Number.POSITIVE_INFINITY) this.#indexedMs = Math.min(this.#indexedMs, timestamp);
    writeCheckpoint(this.files, this.path, this.#current());
  }

  /**
   * The index is synced: its files are to be believed up to `timestamp`, and hold what was stored up to `completeMs`. Two writes, so
   * that the queue time is never there without the index time.
   */
  raiseIndex(timestamp: number, completeMs: number): void {
    this.#indexMs = timestamp;
    this.write();
    if (this.#failing) return;
    this.indexComplete(completeMs);
    this.write();
  }

  /** From now on the queue time waits for the index, which is complete up to where the checkpoint is. */
  waitForIndex(): void {
    this.#indexedMs = this.#before.logicsMsgTimestamp;
  }

  /** All that was stored up to then is in the synced index, or needs no entry; counts with the next write. */
  indexComplete(storeMs: number): void {
    this.#indexedMs = storeMs;
  }

  write(): void {
    try {
      writeCheckpoint(this.files, this.path, this.#current());
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.logger.error(
          { path: this.path, error: messageOf(error) },
          'the checkpoint could not be written; it is tried again',
        );
      this.#failing = true;
    }
  }

  #current(): Checkpoint {
    const logicsMsgTimestamp = Math.min(this.#queuesMs, this.#indexedMs);
    return {
      physicMsgTimestamp: this.#physicMs,
      logicsMsgTimestamp,
      indexMsgTimestamp: this.#indexMs,
      ...(this.#queuesMs > logicsMsgTimestamp ? { queuesSyncedMs: this.#queuesMs } : {}),
    };
  }
}
