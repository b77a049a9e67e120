import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from '../../store/checkpoint/checkpoint.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { IndexVouch } from '../../store/index/index-writer.js';

/**
 * The checkpoint while the store runs. Its queue time is never newer than what the index has synced: a 4.9 broker that recovers the
 * store dispatches from there on into its index, too, and would leave a hole otherwise.
 */
export class Checkpoints implements IndexVouch {
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
    const { physicMsgTimestamp, logicsMsgTimestamp, indexMsgTimestamp } = readCheckpoint(files, path);
    this.#physicMs = physicMsgTimestamp;
    this.#queuesMs = logicsMsgTimestamp;
    this.#indexMs = indexMsgTimestamp;
  }

  /** False when it could not be written: one that is too old costs the next start time and nothing else; try again later. */
  queuesSynced(physicMs: number, queuesMs: number): boolean {
    this.#physicMs = physicMs;
    this.#queuesMs = queuesMs;
    return this.#write();
  }

  lower(timestamp: number): void {
    this.#indexMs = timestamp;
    if (this.#indexedMs !== Number.POSITIVE_INFINITY) this.#indexedMs = Math.min(this.#indexedMs, timestamp);
    writeCheckpoint(this.files, this.path, this.#current());
  }

  raise(timestamp: number): void {
    this.#indexMs = timestamp;
    this.#write();
  }

  /** From now on the queue time waits for the index, which is complete up to where the checkpoint is. */
  waitForIndex(): void {
    this.#indexedMs = this.#queuesMs;
  }

  /** All that was stored up to then is in the synced index, or needs no entry; counts with the next write. */
  indexComplete(storeMs: number): void {
    this.#indexedMs = storeMs;
  }

  /** The last write failed. */
  get failing(): boolean {
    return this.#failing;
  }

  retry(): boolean {
    return this.#write();
  }

  #current(): Checkpoint {
    return {
      physicMsgTimestamp: this.#physicMs,
      logicsMsgTimestamp: Math.min(this.#queuesMs, this.#indexedMs),
      indexMsgTimestamp: this.#indexMs,
    };
  }

  #write(): boolean {
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
    return !this.#failing;
  }
}
