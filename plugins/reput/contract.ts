import type { InjectionToken } from 'tsyringe';
import type { ExtPlace } from '../../store/consumequeue/ext-unit.js';
import type { IndexAnswer } from '../../store/index/query.js';

/** One 20-byte ConsumeQueue unit. */
export interface QueueEntry {
  readonly physicalOffset: number;
  readonly size: number;
  /** Undefined when it stands in an ext unit that is missing. */
  readonly tagsCode: bigint | undefined;
}

/** The ext unit at an offset (unitExtOffset of a queue's unit), valid until the next look; undefined when it is missing. */
export type ExtLook = (extOffset: number) => ExtPlace | undefined;

/** The dispatched queues, read side. Looking at an unknown topic or queue never creates state. */
export interface Queues {
  has(topic: string, queueId: number): boolean;
  /** Queue ids of the topic that exist in the store, ascending. */
  idsOf(topic: string): number[];
  topics(): string[];
  /** First offset still there; 0 for an unknown queue. */
  minOffset(topic: string, queueId: number): number;
  /** Offset after the last dispatched entry; 0 for an unknown queue. */
  maxOffset(topic: string, queueId: number): number;
  /**
   * Up to `count` units from `offset` on, raw (20 bytes each), fewer at the dispatched end, none below the first; one read. Valid until
   * the next call.
   */
  entries(topic: string, queueId: number, offset: number, count: number): Buffer;
  entry(topic: string, queueId: number, offset: number): QueueEntry | undefined;
  /** False when reading these units, or their ext units, may have to wait for a disk; then `bring` them before `entries`. */
  areReady(topic: string, queueId: number, offset: number, count: number): boolean;
  /** Has the units and what follows them read, without holding the thread. */
  bring(topic: string, queueId: number, offset: number): Promise<void>;
  extUnits(topic: string, queueId: number): ExtLook;
  /** 4.9: getOffsetInQueueByTime. On a pool thread when cold files may have to be read. */
  offsetByTime(topic: string, queueId: number, timestampMs: number): Promise<number>;
  /** Store time of the first message still there, ms; -1 for an empty or unknown queue. Like `offsetByTime`. */
  earliestMs(topic: string, queueId: number): Promise<number>;
  /**
   * Forgets a deleted topic's queues and removes their files; what is sent later counts from 0. Nothing may be sent to the topic
   * until this resolves.
   */
  deleteTopic(topic: string): Promise<void>;
  /**
   * Syncs the queue files and the checkpoint; resolves to the log's physical offset up to which they then hold everything. Rejects
   * when they cannot be synced.
   */
  synced(): Promise<number>;
  /** Retention: removes files that lie below the queue's first offset, never the last one; resolves to how many. */
  dropOldFiles(topic: string, queueId: number): Promise<number>;
  /**
   * Removes all files of a queue of which the log has nothing left; until a restart its offsets go on counting. False when it has
   * something, or no files.
   */
  dropExpired(topic: string, queueId: number): Promise<boolean>;
  /** Whether anybody waits for arrivals now: only then are they told as soon as they come. */
  wantArrivals(wanted: boolean): void;
  /** Called with each queue that grew, on the network thread, soon after its entries became visible. */
  onArrival(listener: (topic: string, queueId: number, maxOffset: number) => void): void;
}
export const Queues: InjectionToken<Queues> = Symbol('Queues');

/** What is asked of the index. Times are store times in ms, both included. */
export interface KeyQuery {
  readonly topic: string;
  /** A unique key or one of the words of KEYS. */
  readonly key: string;
  readonly maxNum: number;
  readonly beginMs: number;
  readonly endMs: number;
}

/** The messages of the store by their keys. */
export interface MessageIndex {
  /**
   * The newest messages with the key, whole records one behind the other in the log's order, and the last record that the index has.
   * Empty when there is none. Looks at cold files on a pool thread. Rejects with INDEX_BUSY, QUERY_TOO_WIDE, POOL_FULL.
   */
  query(query: KeyQuery): Promise<IndexAnswer>;
}
export const MessageIndex: InjectionToken<MessageIndex> = Symbol('MessageIndex');
