import type { LedgerMemory } from '../../kernel/ring/ledger.js';
import type { LevelMemory } from '../../kernel/ring/level-words.js';
import type { QueueTableMemory } from '../../kernel/ring/queue-table.js';
import type { TimerMemory } from '../../kernel/ring/timer-words.js';
import type { StoreEndCalls, StoreEndMemory } from '../../kernel/ring/store-end.js';
import type { ExtFilesOptions } from '../../store/consumequeue/ext-files.js';
import type { LogLocation } from '../commitlog/contract.js';

export interface ScheduleBoot {
  readonly log: LogLocation;
  readonly queueDir: string;
  /** Bytes of one ConsumeQueue file (mappedFileSizeConsumeQueue). */
  readonly queueFileBytes: number;
  readonly queueFilesOpenMax: number;
  readonly ext: ExtFilesOptions;
  /** Delay of each level in ms, level 1 first. */
  readonly delayLevelsMs: readonly number[];
  readonly watermarks: SharedArrayBuffer;
  readonly queueTable: QueueTableMemory;
  readonly store: StoreEndMemory;
  readonly levels: LevelMemory;
  readonly ledger: LedgerMemory;
  readonly timers: TimerMemory;
}

/** Which messages with a delivery time of their own are pending. */
export interface TimerSnapshot {
  /** Of config/timerProgress.json; undefined: all that are in the queue. */
  readonly content: string | undefined;
  /** TimerWords.done of that moment. */
  readonly done: number;
}

export interface ScheduleCalls extends StoreEndCalls {
  /** Nothing is delivered before it. */
  open(): void;
  /** Nothing more is handed over; resolves when all that was is stored, or refused. */
  pause(): Promise<void>;
  /** Once in each life: before it none with a delivery time of its own is delivered. Rejects when the content is not whole. */
  restoreTimers(snapshot: TimerSnapshot): void;
  /** What is pending now. */
  timers(): TimerSnapshot;
  /**
   * Stores again, to wait at the log's end, what lies below `offset`, a physical offset, and is not due. Resolves, when that is in the log,
   * to `offset`, or to the smaller one below which nothing is needed.
   */
  moveBelow(offset: number): Promise<number>;
}
