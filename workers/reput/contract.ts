import type { BellAddress } from '../../kernel/threads/contract.js';
import type { QueueTableMemory } from '../../kernel/ring/queue-table.js';
import type { FilterModule, FilterThread } from '../../plugins/filter/contract.js';
import type { ExtFilesOptions } from '../../store/consumequeue/ext-files.js';
import type { IndexLayout } from '../../store/index/layout.js';
import type { IndexMemory } from '../../store/index/shared-index.js';
import type { LogLocation } from '../commitlog/contract.js';

export interface IndexBoot {
  readonly dir: string;
  readonly layout: IndexLayout;
  readonly memory: IndexMemory;
  /** How often slots and header are written back and synced, ms (indexSyncIntervalMs). */
  readonly syncIntervalMs: number;
  /** What is missing at the start is older than what recovery walked: the checkpoint's other times do not wait for it. */
  readonly inBackground: boolean;
}

export interface ReputBoot {
  readonly log: LogLocation;
  readonly queueDir: string;
  readonly checkpointPath: string;
  /** Bytes of one ConsumeQueue file (mappedFileSizeConsumeQueue). */
  readonly queueFileBytes: number;
  readonly queueFilesOpenMax: number;
  readonly ext: ExtFilesOptions;
  /** Bytes of bitmap expected in an ext unit (bitMapLengthConsumeQueueExt). */
  readonly extBitmapBytes: number;
  /** Missing while enableCalcFilterBitMap or the place for bitmaps is off. */
  readonly bitmaps?: BitmapBoot;
  /** Delay of each level in ms, level 1 first: SCHEDULE_TOPIC_XXXX keeps the due time in the tags code. */
  readonly delayLevelsMs: readonly number[];
  readonly watermarks: SharedArrayBuffer;
  readonly queueTable: QueueTableMemory;
  readonly arrivals: SharedArrayBuffer;
  /** `dispatched` when the first life of this service began; more than that at its start tells a later life what it is. */
  readonly dispatchFrom?: number;
  /** SYNC_FLUSH: dispatch only what is synced, so that a consumer never sees what a power cut can take back (B02). */
  readonly visibleWhenFlushed: boolean;
  /** How often dirty queue files are synced and the checkpoint is written, ms (flushIntervalConsumeQueue). */
  readonly syncIntervalMs: number;
  /** Missing while messageIndexEnable is off. */
  readonly index?: IndexBoot;
  /** Bells to ring when queues grew. */
  readonly followers: readonly BellAddress[];
  /** Bells to ring when queues of one topic grew. */
  readonly topicFollowers: readonly { readonly topic: string; readonly bell: BellAddress }[];
}

/** A filter of a group on a topic, or that there is none any more. */
export interface FilterChange {
  readonly topic: string;
  readonly group: string;
  readonly filter?: {
    readonly expressionType: string;
    readonly expression: string;
    /** Bits that are set in the bitmap of a message that passes. */
    readonly positions: readonly number[];
  };
}

/** What came of the changes. */
export interface FiltersInForce {
  /** Messages with a later store time were dispatched with them. */
  readonly sinceMs: number;
  /** Indices of changes whose filter cannot be used. */
  readonly unusable: readonly number[];
}

export interface BitmapBoot {
  /** Bits of each message's bitmap. */
  readonly bits: number;
  readonly modules: readonly FilterModule[];
  readonly thread: FilterThread;
}

export interface ReputCalls {
  /**
   * Filters for `bitmaps`. Nothing is dispatched before a call with `complete`: with it the service knows all that there are. Resolves
   * when they are in force.
   */
  setFilters(changes: readonly FilterChange[], complete: boolean): Promise<FiltersInForce>;
  /** Syncs the queue files and the index and writes the checkpoint. Rejects when this or an earlier sync failed. */
  syncNow(): Promise<void>;
  /** Syncs the queue files alone. Rejects when this or an earlier sync failed. */
  syncQueues(): Promise<void>;
  /** Removes the topic's queue files; its records below `until`, a physical offset, are not dispatched any more. */
  deleteTopic(topic: string, until: number): Promise<void>;
  /** Removes the queue's files that hold only units below its minimum, never the last one; resolves to how many. */
  dropOldFiles(topic: string, queueId: number): Promise<number>;
  /**
   * Removes all files of a queue of which the log has nothing left; its offsets go on counting. False when there is something, or
   * were no files.
   */
  dropExpired(topic: string, queueId: number): Promise<boolean>;
}
