import { dirname } from 'node:path';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import type { QueueFiles, Unsynced } from '../../store/consumequeue/queue-files.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { Checkpoints } from './checkpoints.js';

/** A round of syncs gives way to dispatching after so long and goes on at the next step. */
const PIECE_MS = 1;
/** With many queues a round takes long: it is followed by a pause of so many times its length, at most of the longest. */
const PAUSE_FACTOR = 9;
const PAUSE_MS_MAX = 60_000;

export interface QueueSyncOptions {
  readonly files: StoreFiles;
  readonly queues: QueueFiles;
  readonly checkpoints: Checkpoints;
  readonly watermarks: Watermarks;
  readonly context: ServiceContext;
  /** Between the beginnings of two rounds, at least. */
  readonly intervalMs: number;
  /** A life before this one died and left queue files behind of which nobody knows whether they are synced. */
  readonly inherited: boolean;
}

/** What the checkpoint says when the round is done: times from before it, since too new ones make a recovery skip for good. */
interface Round {
  readonly physicMs: number;
  readonly queuesMs: number;
  readonly unsynced: Unsynced;
  spentMs: number;
}

/**
 * Syncs the ConsumeQueues in rounds and moves the checkpoint behind each. A round takes what was dirty when it began, in pieces between
 * which dispatching goes on: thousands of queues keep no message waiting.
 */
export class QueueSync {
  readonly #options: QueueSyncOptions;
  #inherited: boolean;
  #unsynced = false;
  #failed = false;
  #round: Round | undefined;
  #nextMonoMs: number;

  constructor(options: QueueSyncOptions) {
    this.#options = options;
    this.#inherited = options.inherited;
    this.#nextMonoMs = options.context.clock.monoMs() + options.intervalMs;
  }

  /** Something was dispatched. */
  changed(): void {
    this.#unsynced = true;
  }

  /** Does what is due; `queuesMs` is the store time of the last record dispatched. Returns when it wants to be called again, ms. */
  step(queuesMs: number): number {
    const now = this.#options.context.clock.monoMs();
    if (this.#round === undefined && now >= this.#nextMonoMs) this.#begin(queuesMs, now);
    if (this.#round !== undefined && !this.#piece(this.#round, PIECE_MS)) return 0;
    return this.#unsynced ? Math.max(1, this.#nextMonoMs - now) : Number.POSITIVE_INFINITY;
  }

  /** All of it, at once. Throws when not everything that was dispatched is synced. */
  syncNow(queuesMs: number): void {
    if (this.#round !== undefined) this.#piece(this.#round, Number.POSITIVE_INFINITY);
    this.#begin(queuesMs, this.#options.context.clock.monoMs());
    if (this.#round !== undefined) this.#piece(this.#round, Number.POSITIVE_INFINITY);
    if (this.#failed)
      throw new KernelError(
        'QUEUES_NOT_SYNCED',
        `a sync of ${this.#options.queues.dir} failed; the log before tells why`,
      );
  }

  #begin(queuesMs: number, now: number): void {
    const { checkpoints, queues, watermarks, intervalMs } = this.#options;
    this.#nextMonoMs = now + intervalMs;
    if (!this.#unsynced && !this.#inherited && !checkpoints.failing) return;
    this.#unsynced = false;
    if (this.#failed) return;
    const physicMs = watermarks.get(Watermark.flushedTimeMs);
    this.#round = { physicMs, queuesMs, unsynced: queues.takeUnsynced(), spentMs: 0 };
  }

  /** True when the round is over. */
  #piece(round: Round, limitMs: number): boolean {
    const { context, queues } = this.#options;
    const beganMs = context.clock.monoMs();
    let spentMs = 0;
    let left: number;
    try {
      if (this.#inherited) this.#syncAll();
      this.#inherited = false;
      do {
        left = queues.syncSome(round.unsynced, 1);
        spentMs = context.clock.monoMs() - beganMs;
      } while (left > 0 && spentMs < limitMs);
    } catch (error) {
      this.#fail(error);
      return true;
    }
    round.spentMs += spentMs;
    if (left > 0) return false;
    this.#end(round);
    return true;
  }

  #end({ queuesMs, physicMs, spentMs }: Round): void {
    const { checkpoints, context } = this.#options;
    this.#round = undefined;
    const pauseMs = Math.min(PAUSE_MS_MAX, spentMs * PAUSE_FACTOR);
    this.#nextMonoMs = Math.max(this.#nextMonoMs, context.clock.monoMs() + pauseMs);
    // Nothing dispatched in this life: the checkpoint that is there holds.
    if (queuesMs > 0) checkpoints.queuesSynced(physicMs, queuesMs);
    else if (checkpoints.failing) checkpoints.write();
  }

  #fail(error: unknown): void {
    const { context, queues } = this.#options;
    this.#round = undefined;
    this.#failed = true;
    context.logger.error(
      { dir: queues.dir, error: messageOf(error) },
      'consume queues could not be synced; the checkpoint stays where it is, so that the next start rebuilds them from the log',
    );
  }

  /** A checkpoint that is written by this life vouches for what the one before it wrote, too. */
  #syncAll(): void {
    const { files, queues } = this.#options;
    const folders = new Set([queues.dir]);
    for (const path of queues.paths()) {
      folders.add(dirname(path)).add(dirname(dirname(path)));
      const file = files.open(path, 'readWrite');
      try {
        file.sync();
      } finally {
        file.close();
      }
    }
    files.syncNames(folders);
  }
}
