import type { BellAddress } from '../../kernel/threads/contract.js';
import type { QueueTableMemory } from '../../kernel/ring/queue-table.js';
import type { RingMemory } from '../../kernel/ring/slots.js';
import type { StoreFiles } from '../../store/files/contract.js';

/** Where the log lies. `files` is given only to a service on the kernel's own thread (memory store, tests). */
export interface LogLocation {
  readonly dir: string;
  readonly temporaryDir: string;
  readonly segmentBytes: number;
  readonly files?: StoreFiles;
}

export interface CommitLogBoot {
  readonly log: LogLocation;
  /** The log is filled with zeros in blocks of so many bytes just before records come there; 0: not. */
  readonly clearAheadBytes: number;
  /** One ring per thread that stores messages, with the bell that tells it that units are completed. */
  readonly rings: readonly { readonly memory: RingMemory; readonly producer: BellAddress }[];
  readonly watermarks: SharedArrayBuffer;
  readonly queueTable: QueueTableMemory;
  /** Bells to ring when `appended` moved. */
  readonly followers: readonly BellAddress[];
}
