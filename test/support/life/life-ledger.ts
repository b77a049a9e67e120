import { BODY_CRC_AT, bodySizeAt, SYS_FLAG_AT } from '../../../protocol/message/record.js';
import { isQueued } from '../../../store/dispatch/read-dispatch.js';

/**
 * What became of a record: `open` until its answer, `doubtful` when it was answered 10 (perhaps stored), `gone` when a power cut took
 * it, as it may; `kept` once a recovery found it: from then on it must stay.
 */
export type Outcome = 'open' | 'acked' | 'refused' | 'doubtful' | 'gone' | 'kept';

/** One record that was handed to the store. */
export interface Entry {
  readonly id: number;
  readonly topic: string;
  readonly queueId: number;
  /** As encoded, the fields that the store stamps being zero. */
  readonly bytes: Buffer;
  /** It takes a queue offset. */
  readonly queued: boolean;
  readonly waitStore: boolean;
  outcome: Outcome;
  ackedMonoMs: number;
  /** -1 until the writer said so. */
  physicalOffset: number;
  queueOffset: number;
}

/** The contents that were handed over for one file, in order, and which of them was reported as written last. */
export interface FileHistory {
  readonly contents: string[];
  /** Index, or -1. */
  completed: number;
}

/** Where a topic was deleted: its records before this physical offset are free to go. */
export interface Deletion {
  readonly topic: string;
  readonly physicalOffset: number;
}

const ID_BYTES = 4;

/** Everything that the store was given and said, kept outside of its disk through all of its lives. */
export class LifeLedger {
  readonly entries: Entry[] = [];
  readonly deletions: Deletion[] = [];
  readonly files = new Map<string, FileHistory>();
  /** End of the log up to which a sync or a recovery said that all is on disk. */
  durableEnd = 0;
  /** When a sync of the log failed, and how long the log was then: nothing is promised of what came after. */
  failed: { readonly monoMs: number; readonly appended: number } | undefined;
  /** What consumers were given: ids by `topic/queue/offset`. */
  readonly seen = new Map<string, number>();
  /** `true`: acknowledged to exist. Missing: may or may not. */
  readonly topics = new Map<string, boolean>();
  /** Acknowledged sends over all lives. */
  acked = 0;

  add(topic: string, queueId: number, bytes: Buffer, waitStore: boolean): Entry {
    const id = this.entries.length;
    const bodyAt = bodySizeAt(bytes.readInt32BE(SYS_FLAG_AT)) + 4;
    if (bytes.readInt32BE(bodyAt) !== id) throw new Error(`the body of record ${id} does not begin with its id`);
    const queued = isQueued(bytes.readInt32BE(SYS_FLAG_AT));
    const entry: Entry = {
      ...{ id, topic, queueId, bytes, queued, waitStore },
      ...{ outcome: 'open', ackedMonoMs: 0, physicalOffset: -1, queueOffset: -1 },
    };
    this.entries.push(entry);
    return entry;
  }

  history(path: string): FileHistory {
    let history = this.files.get(path);
    if (history === undefined) this.files.set(path, (history = { contents: [], completed: -1 }));
    return history;
  }

  /** The entry that a stored record is a copy of, or undefined when it is none: never sent, or other bytes than were sent. */
  find(record: Buffer): Entry | undefined {
    const bodyAt = bodySizeAt(record.readInt32BE(SYS_FLAG_AT)) + 4;
    if (record.length < bodyAt + ID_BYTES) return undefined;
    const entry = this.entries[record.readInt32BE(bodyAt)];
    return entry !== undefined && withoutStamps(record).equals(entry.bytes) ? entry : undefined;
  }
}

/** IPv4 records only, as all of these are. */
const STAMPED: readonly (readonly [from: number, to: number])[] = [
  [20, 36],
  [56, 64],
];

function withoutStamps(record: Buffer): Buffer {
  const copy = Buffer.from(record);
  for (const [from, to] of STAMPED) copy.fill(0, from, to);
  return copy;
}

/** The body of the entry that is added next: its id, then noise. */
export function bodyOf(ledger: LifeLedger, bytes: number, noise: number): Buffer {
  const body = Buffer.alloc(Math.max(ID_BYTES, bytes), noise);
  body.writeInt32BE(ledger.entries.length, 0);
  return body;
}

export function storedCrc(record: Buffer): number {
  return record.readInt32BE(BODY_CRC_AT);
}
