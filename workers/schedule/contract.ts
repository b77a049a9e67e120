import type { LedgerMemory } from '../../kernel/ring/ledger.js';
import type { LevelMemory } from '../../kernel/ring/level-words.js';
import type { QueueTableMemory } from '../../kernel/ring/queue-table.js';
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
}

export interface ScheduleCalls extends StoreEndCalls {
  /** Nothing is delivered before it. */
  open(): void;
  /** Nothing more is handed over; resolves when all that was is stored, or refused. */
  pause(): Promise<void>;
}
