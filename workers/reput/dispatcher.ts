import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import { messageOf } from '../../kernel/base/errors.js';
import { ArrivalRing } from '../../kernel/ring/arrivals.js';
import { QueueTable, QueueWord } from '../../kernel/ring/queue-table.js';
import { Doorbell } from '../../kernel/ring/wait.js';
import { Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { UNIT_BYTES, unitPhysicalOffset } from '../../store/consumequeue/unit.js';
import { DispatchFields, isQueued, readDispatch } from '../../store/dispatch/read-dispatch.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { Checkpoints } from './checkpoints.js';
import type { FilterChange, FiltersInForce, ReputBoot, ReputCalls } from './contract.js';
import type { FilterBitmaps } from './filter-bitmaps.js';
import { Indexer } from './indexer.js';
import { LogChunks } from './log-chunks.js';
import { QueueSync } from './queue-sync.js';
import { UnitBatch } from './unit-batch.js';

const IDLE_MS = 500;
const RETRY_MS = 200;
/** 4.9 looks once a millisecond, too (4.9: ReputMessageService). */
const REST_MS = 1;

/** Reads the log behind `appended` (or `flushed`) and builds the ConsumeQueues from it. Doing it twice changes nothing. */
export class Dispatcher implements Service {
  readonly calls: ReputCalls = {
    setFilters: async (changes, complete) => this.#setFilters(changes, complete),
    syncNow: async () => this.#syncNow(),
    syncQueues: async () => this.#syncQueues(),
    deleteTopic: (topic, until) => Promise.resolve(this.#deleteTopic(topic, until)),
    dropOldFiles: async (topic, queueId) => this.#dropOldFiles(topic, queueId),
    dropExpired: async (topic, queueId) => this.#dropExpired(topic, queueId),
  };
  readonly #files: StoreFiles;
  readonly #watermarks: Watermarks;
  readonly #table: QueueTable;
  readonly #arrivals: ArrivalRing;
  readonly #queues: QueueFiles;
  readonly #chunks: LogChunks;
  readonly #followers: Doorbell[];
  readonly #topicFollowers: ReadonlyMap<string, Doorbell>;
  readonly #units: UnitBatch;
  readonly #index: Indexer | undefined;
  readonly #fields: DispatchFields;
  readonly #limit: Watermark;
  /** Topics that were deleted before all of their records were dispatched: up to which offset they are passed over. */
  readonly #deleted = new Map<string, number>();
  readonly #sync: QueueSync;
  /** An earlier life of this service may have dispatched what lies below, beyond the watermark. */
  #seenBelow = 0;
  #failing = false;
  readonly #whenWritten: (() => void)[] = [];
  /** Steps in a row that found nothing. */
  #idleSteps = 2;

  constructor(
    private readonly boot: ReputBoot,
    private readonly context: ServiceContext,
    private readonly bitmaps?: FilterBitmaps,
  ) {
    this.#files = boot.log.files ?? nodeFiles;
    this.#watermarks = new Watermarks(boot.watermarks);
    this.#table = new QueueTable(boot.queueTable);
    this.#arrivals = new ArrivalRing(boot.arrivals);
    this.#queues = new QueueFiles({
      files: this.#files,
      dir: boot.queueDir,
      temporaryDir: boot.log.temporaryDir,
      fileBytes: boot.queueFileBytes,
      openMax: boot.queueFilesOpenMax,
      mode: 'readWrite',
      ext: boot.ext,
    });
    this.#units = new UnitBatch(boot.ext.enabled ? boot.extBitmapBytes : undefined);
    this.#fields = new DispatchFields(boot.delayLevelsMs);
    this.#chunks = new LogChunks(this.#files, boot.log, this.#watermarks.get(Watermark.dispatched));
    this.#followers = boot.followers.map((bell) => Doorbell.at(bell));
    this.#topicFollowers = new Map(boot.topicFollowers.map(({ topic, bell }) => [topic, Doorbell.at(bell)]));
    this.#limit = boot.visibleWhenFlushed ? Watermark.flushed : Watermark.appended;
    const { log, index } = boot;
    const [files, watermarks] = [this.#files, this.#watermarks];
    const checkpoints = new Checkpoints(files, boot.checkpointPath, context.logger);
    const { dispatchFrom = Number.POSITIVE_INFINITY, syncIntervalMs: intervalMs } = boot;
    const inherited = watermarks.get(Watermark.dispatched) > dispatchFrom;
    if (inherited && bitmaps !== undefined) this.#seenBelow = watermarks.get(this.#limit);
    this.#sync = new QueueSync({
      files,
      queues: this.#queues,
      checkpoints,
      watermarks,
      context,
      intervalMs,
      inherited,
    });
    if (index !== undefined) this.#index = new Indexer({ boot: index, files, log, watermarks, checkpoints, context });
  }

  step(): number {
    this.#chunks.forgetBelow(this.#watermarks.get(Watermark.logMin));
    const dispatchedTo = this.#watermarks.get(Watermark.dispatched);
    const limit = this.bitmaps?.ready === false ? dispatchedTo : this.#watermarks.get(this.#limit);
    const behind = limit > dispatchedTo;
    this.#idleSteps = behind ? 0 : this.#idleSteps + 1;
    const dispatched = !behind || this.#dispatch(limit);
    const indexInMs = this.#index?.step() ?? IDLE_MS;
    if (!dispatched) return Math.min(RETRY_MS, indexInMs);
    const syncInMs = this.#sync.step(this.#fields.storeTimestamp);
    if (limit > this.#watermarks.get(Watermark.dispatched)) return 0;
    return Math.min(indexInMs, syncInMs, IDLE_MS);
  }

  /** While the log grows and nobody waits for what arrives, it is read in larger pieces: fewer wake-ups, fewer queue writes. */
  get restMs(): number {
    return this.#idleSteps < 2 && !this.#arrivals.wanted ? REST_MS : 0;
  }

  close(): void {
    this.#chunks.close();
    this.#queues.close();
    this.#index?.close();
  }

  /** One chunk of the log. False when it could not be dispatched now; the same chunk is tried again. */
  #dispatch(limit: number): boolean {
    this.#table.sync();
    this.#index?.begin();
    try {
      const end = this.#chunks.read(
        limit,
        (buffer, at, physicalOffset) => this.#record(buffer, at, physicalOffset),
        (physicalOffset) => this.#skip(physicalOffset, 'no record stands here: the rest of its segment is passed over'),
      );
      this.#publish(end);
      this.#failing = false;
      for (const resume of this.#whenWritten.splice(0)) resume();
      return true;
    } catch (error) {
      this.#chunks.rewind(this.#watermarks.get(Watermark.dispatched));
      this.#units.clear();
      this.#index?.abort();
      if (!this.#failing)
        this.context.logger.error(
          { from: this.#watermarks.get(Watermark.dispatched), error: messageOf(error) },
          'consume queues cannot be written; messages stay in the log and are dispatched when it works again',
        );
      this.#failing = true;
      return false;
    }
  }

  #record(buffer: Buffer, at: number, physicalOffset: number): void {
    const fields = this.#fields;
    const problem = readDispatch(buffer, at, physicalOffset, fields);
    if (problem !== undefined) return this.#skip(physicalOffset, problem);
    this.#index?.add(buffer, fields);
    if (!isQueued(fields.sysFlag)) return;
    if (this.#deleted.size > 0 && physicalOffset < (this.#deleted.get(fields.topic) ?? 0)) return;
    const row = this.#table.find(fields.topic, fields.queueId);
    if (row < 0)
      return this.#skip(physicalOffset, `queue ${fields.queueId} of ${fields.topic} is not in the queue table`);
    const { queueOffset, size, tagsHigh, tagsLow, storeTimestamp } = fields;
    if (physicalOffset < this.#seenBelow && this.#stands(row, queueOffset, physicalOffset))
      return this.#arrivals.push(row);
    const bitmap = this.bitmaps?.of(buffer, fields);
    if (this.#units.add(row, queueOffset, physicalOffset, size, tagsHigh, tagsLow, storeTimestamp, bitmap)) return;
    this.#writeUnits();
    this.#units.add(row, queueOffset, physicalOffset, size, tagsHigh, tagsLow, storeTimestamp, bitmap);
  }

  /**
   * The life before this one made the unit visible. Its ext unit has the size that the filters of then gave it: with those of now the
   * following ones would lie elsewhere than units say that were read already.
   */
  #stands(row: number, queueOffset: number, physicalOffset: number): boolean {
    if (queueOffset >= this.#table.get(row, QueueWord.dispatched)) return false;
    const unit = this.#queues.read(this.#table.topicOf(row), this.#table.queueIdOf(row), queueOffset, 1);
    return unit.length === UNIT_BYTES && unitPhysicalOffset(unit, 0) === physicalOffset;
  }

  /** A chunk that was written in part is written once more with the same bitmaps: they decide where its ext units lie. */
  async #setFilters(changes: readonly FilterChange[], complete: boolean): Promise<FiltersInForce> {
    assert(this.bitmaps !== undefined, 'filters are set where bitmaps are computed');
    while (this.#failing) await new Promise<void>((resolve) => this.#whenWritten.push(resolve));
    return this.bitmaps.set(changes, complete);
  }

  #deleteTopic(topic: string, until: number): void {
    if (until > this.#watermarks.get(Watermark.dispatched)) this.#deleted.set(topic, until);
    this.#queues.remove(topic);
  }

  #dropOldFiles(topic: string, queueId: number): number {
    const row = this.#table.find(topic, queueId);
    return row < 0 ? 0 : this.#queues.dropBelow(topic, queueId, this.#table.get(row, QueueWord.minimum)).length;
  }

  #dropExpired(topic: string, queueId: number): boolean {
    const row = this.#table.find(topic, queueId);
    if (row < 0) return false;
    const [end, minimum, next] = [QueueWord.dispatched, QueueWord.minimum, QueueWord.next].map((word) =>
      this.#table.get(row, word),
    );
    if (end === 0 || minimum < end || next > end || this.#queues.bases(topic, queueId).length === 0) return false;
    this.#queues.removeQueue(topic, queueId);
    if (this.#files.list(join(this.boot.queueDir, topic)).length === 0) this.#queues.remove(topic);
    return true;
  }

  /** One record that cannot be dispatched stops no other (B32). */
  #skip(physicalOffset: number, problem: string): void {
    this.context.logger.warn({ physicalOffset, problem }, 'a record of the log gets no queue entry');
  }

  /**
   * A recovered log may still hold what a topic had before it was deleted and made anew. Of such records those that the queue does not
   * count any more are passed over; the others are overwritten by the new ones, which follow.
   */
  #writeUnits(): void {
    this.#units.drain((row, firstOffset, bytes, byteLength, ext) => {
      const end = Math.min(firstOffset + byteLength / UNIT_BYTES, this.#table.get(row, QueueWord.next));
      if (end <= firstOffset) return;
      const count = end - firstOffset;
      ext?.keep(count);
      const topic = this.#table.topicOf(row);
      this.#queues.write(topic, this.#table.queueIdOf(row), firstOffset, bytes, count * UNIT_BYTES, 0, ext);
      if (end > this.#table.get(row, QueueWord.dispatched)) this.#table.set(row, QueueWord.dispatched, end);
      this.#arrivals.push(row);
      this.#topicFollowers.get(topic)?.ring();
    });
  }

  #publish(end: number): void {
    this.#writeUnits();
    for (const [topic, until] of this.#deleted) if (until <= end) this.#deleted.delete(topic);
    this.#watermarks.advance(Watermark.dispatched, end);
    this.#sync.changed();
    for (const follower of this.#followers) follower.ring();
    this.#index?.commit(end);
  }

  #syncNow(): void {
    try {
      this.#index?.syncNow();
    } finally {
      this.#syncQueues();
    }
  }

  #syncQueues(): void {
    this.#sync.syncNow(this.#fields.storeTimestamp);
  }
}
