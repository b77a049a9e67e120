import type { InjectionToken } from 'tsyringe';
import type { QueueTable } from '../../kernel/ring/queue-table.js';
import type { StoreEndMemory } from '../../kernel/ring/store-end.js';
import type { WakeLoop } from '../../kernel/ring/wake-loop.js';
import type { Watermarks } from '../../kernel/ring/watermarks.js';
import type { RunningService } from '../../kernel/threads/service.js';
import type { ExtFilesOptions } from '../../store/consumequeue/ext-files.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { DiskUsage, MeasureDisk as MeasureDiskType } from '../../store/files/disk-usage.js';
import type { StorePaths } from '../../store/files/paths.js';
import type { LogLocation } from '../../workers/commitlog/contract.js';

/**
 * How a record ended. Those of the first line are in the log; those of the second burned no queue offset and left no bytes.
 */
export type AppendStatus =
  'stored' | 'flushTimeout' | 'flushFailed' | 'tooLarge' | 'noSpace' | 'writeFailed' | 'readOnly';

export interface AppendResult {
  readonly status: AppendStatus;
  /** What happened, where and what to do, when it is not stored; empty otherwise. */
  readonly reason: string;
  readonly queueOffset: number;
  readonly physicalOffset: number;
  readonly storeTimestamp: number;
}

/** Everything that a record is made of; the store fills in queue offset, physical offset and store time. */
export interface NewMessage {
  readonly topic: string;
  readonly queueId: number;
  readonly flag: number;
  readonly sysFlag: number;
  readonly bornTimestamp: number;
  /** 4 or 16 bytes. */
  readonly bornAddress: Buffer;
  readonly bornPort: number;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  readonly body: Uint8Array;
  /** `name\u0001value\u0002…` as stored. */
  readonly properties: string;
  /** False: answered at `appended`, past those that wait for flush or slave. */
  readonly waitStore: boolean;
}

/** The plain way to store one message from the network thread; the send path has its own, without objects. */
export interface MessageWriter {
  append(message: NewMessage): Promise<AppendResult>;
}
export const MessageWriter: InjectionToken<MessageWriter> = Symbol('MessageWriter');

/** Reads stored records by physical offset; sees nothing at or beyond `appended`. */
export interface LogReader {
  readonly minOffset: number;
  readonly maxOffset: number;
  /** One whole record, or undefined when there is none at that offset. Cold data is read without holding the thread. */
  record(physicalOffset: number): Promise<Buffer | undefined>;
  /** Reads exactly `length` bytes at `physicalOffset`, across segment ends, at once. Throws KernelError when they are not there. */
  readInto(target: Buffer, targetOffset: number, length: number, physicalOffset: number): void;
  /** The same without holding the thread, for data that may have to come from a disk. */
  readIntoAsync(target: Buffer, targetOffset: number, length: number, physicalOffset: number): Promise<void>;
  /** True when the offset lies so near the tail that a read cannot wait for a disk. */
  isHot(physicalOffset: number): boolean;
  storeTimestamp(physicalOffset: number): Promise<number>;
  /** Retention: lets go of what lies below the log's minimum, so that the disk gets its space back. */
  forgetRemoved(): void;
}
export const LogReader: InjectionToken<LogReader> = Symbol('LogReader');

/** Live figures of the store for admin answers and metrics. */
export interface StoreStatus {
  readonly appended: number;
  readonly flushed: number;
  readonly dispatched: number;
  /** Why sends are refused now, or undefined. */
  readonly readOnlyReason: string | undefined;
  /** A write or a sync failed: nothing is stored or synced until a restart. */
  readonly failed: boolean;
}
export const StoreStatus: InjectionToken<StoreStatus> = Symbol('StoreStatus');

/** How full the disks are that the store lies on; as it was at the last look. */
export interface StoreDisks {
  readonly commitLog: DiskUsage | undefined;
  readonly consumeQueue: DiskUsage | undefined;
  /** Of the store's root folder. */
  readonly root: DiskUsage | undefined;
  /** Looks, without holding the thread. Callers that come meanwhile wait for the same look. In memory there is nothing to see. */
  measure(): Promise<void>;
  /** The three ratios as 4.9 puts them into an answer (4.9: SendMessageProcessor#diskUtil). */
  text(): string;
}
export const StoreDisks: InjectionToken<StoreDisks> = Symbol('StoreDisks');

/** How a disk is measured; tests give disks of their own. */
export const MeasureDisk: InjectionToken<MeasureDiskType> = Symbol('MeasureDisk');

/** What the store's plugins share. Its fields are there once plugin `commitlog` has started. */
export interface StoreState {
  readonly inMemory: boolean;
  readonly files: StoreFiles;
  readonly paths: StorePaths;
  /** For the boots of workers. */
  readonly log: LogLocation;
  readonly queueExt: ExtFilesOptions;
  readonly watermarks: Watermarks;
  readonly queueTable: QueueTable;
  /** Wakes the network thread when a cursor moved. */
  readonly wake: WakeLoop;
  /** The last broker on this store did not end by itself: the log may have lost its tail. */
  readonly recovered: boolean;
  /** Set by who could not bring to disk what the store must find there: the next start recovers, however this one ends. */
  recoverNext: boolean;
  /** Set at the start: the index lacks messages from before what recovery walked; it is built while the broker serves. */
  indexInBackground: boolean;
}
export const StoreState: InjectionToken<StoreState> = Symbol('StoreState');

/** One unit on its way: a record, or the records of one batch request. Called on the network thread, in this order. */
export interface PendingAppend {
  /** False: settled at `appended`, past those that wait for flush or slave. */
  readonly waitStore: boolean;
  /** The unit is in the log. Copy what is needed from the stamped records at `start` of `ring`, now: the bytes are freed next. */
  appended(ring: DataView, start: number): void;
  /** The end of it. Without `appended` before it, nothing was stored. */
  settle(status: AppendStatus, reason: string): void;
}

/** The network thread's end of the hand-off ring, without objects: reserve, encode into `bytes`, commit; publish once per chunk. */
export interface AppendGate {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Index of `size` contiguous bytes, or -1 while the ring is full; then wait for `onRoom`. */
  reserve(size: number): number;
  commit(size: number, topic: string, queueId: number, records: number, pending: PendingAppend): void;
  publish(): void;
  /** Resolves when everything committed up to now is appended or refused. */
  drained(): Promise<void>;
  /** Called whenever slots were freed. */
  onRoom(listener: () => void): void;
  /** What lies in the ring: handed over or about to be, and not yet freed. */
  readonly ringUnits: number;
  readonly ringBytes: number;
  /** Units appended that wait for flush or slave. */
  readonly waiting: number;
  /** Why nothing may be sent now, or undefined. */
  readonly readOnlyReason: string | undefined;
  /** Retention: why nothing may be sent for now, or undefined when it may again. What is on its way is stored all the same. */
  holdBack(reason: string | undefined): void;
}
export const AppendGate: InjectionToken<AppendGate> = Symbol('AppendGate');

/** Address and port that stand in every record as its store host: where `brokerIP1` and the listen port say that we are. */
export interface StoreHost {
  /** 4 or 16 bytes. */
  readonly address: Buffer;
  readonly port: number;
}
export const StoreHost: InjectionToken<StoreHost> = Symbol('StoreHost');

/** Services that store messages from a thread of their own, each through a ring of its own. */
export const storingServices = ['schedule', 'transaction'] as const;
export type StoringService = (typeof storingServices)[number];

export interface StoreEnds {
  /** For the service's boot; once. */
  memoryOf(service: StoringService): StoreEndMemory;
  /**
   * Answers what the running service posts: rows that it wants (its calls extend StoreEndCalls), then `onMail`, in which its plugin
   * asks for what else there is.
   */
  serve(service: RunningService, memory: StoreEndMemory, onMail?: () => Promise<void>): void;
}
export const StoreEnds: InjectionToken<StoreEnds> = Symbol('StoreEnds');
