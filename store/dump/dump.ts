import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { SysFlag } from '../../protocol/codes.js';
import { plainBody } from '../../protocol/message/body.js';
import { parseProperties, PropertyName } from '../../protocol/message/properties.js';
import { decodeRecord, type StoredMessage } from '../../protocol/message/record.js';
import type { QueueId, QueueFiles } from '../consumequeue/queue-files.js';
import { isBlankUnit, isRecordUnit, UNIT_BYTES, unitPhysicalOffset } from '../consumequeue/unit.js';
import type { StoreFiles } from '../files/contract.js';
import type { StorePaths } from '../files/paths.js';
import { filesIn, sizeOfRows } from '../verify/file-audit.js';
import { fileOf } from '../verify/log-check.js';
import { LogLookup } from '../verify/log-lookup.js';
import { type LogRun, runsOf } from '../verify/log-run.js';
import { openQueues } from '../verify/open-queues.js';

/** One queue of a store as its files show it. */
export interface QueueRange extends QueueId {
  /** First queue offset whose record the log has, and the one behind the last unit. */
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** A stored message with where it lies; its body is inflated when it can be, and may share memory that the next call overwrites. */
export interface DumpedRecord extends Omit<StoredMessage, 'properties'> {
  readonly file: string;
  readonly position: number;
  readonly properties: ReadonlyMap<string, string>;
  readonly tags: string | undefined;
  readonly keys: string | undefined;
  readonly uniqKey: string | undefined;
  readonly sysFlagWords: readonly string[];
  /** As stored, perhaps compressed. */
  readonly storedBodyBytes: number;
  /** Why the body is still compressed. */
  readonly bodyProblem?: string;
}

/** A unit that leads to no record. */
export interface DumpedGap {
  readonly queueOffset: number;
  readonly problem: string;
}

export interface DumpOptions {
  readonly files: StoreFiles;
  readonly paths: StorePaths;
  readonly segmentBytes?: number | undefined;
  readonly queueFileBytes?: number | undefined;
}

/** Reads single messages out of a store, damaged or not. Changes nothing. */
export class StoreDump {
  readonly #logMin: number;
  readonly #logDir: string;
  readonly #segmentBytes: number;
  readonly #runs: readonly LogRun[];
  readonly #lookup: LogLookup;
  readonly #queues: QueueFiles;

  constructor({ files, paths, segmentBytes, queueFileBytes }: DumpOptions) {
    const { row } = filesIn(files, paths.commitLog);
    this.#logDir = paths.commitLog;
    this.#segmentBytes = segmentBytes ?? sizeOfRows([row]) ?? 1;
    this.#logMin = row[0]?.base ?? 0;
    this.#runs = runsOf(files, paths.commitLog, this.#segmentBytes, row);
    this.#lookup = new LogLookup(this.#runs);
    this.#queues = openQueues(files, paths, queueFileBytes).queues;
  }

  close(): void {
    for (const run of this.#runs) run.close();
    this.#queues.close();
  }

  /** All queues, or those of one topic, in the order of their names. */
  *ranges(topic?: string): Generator<QueueRange> {
    const ids = this.#queues.list().queues.filter((queue) => topic === undefined || queue.topic === topic);
    ids.sort((a, b) => (a.topic === b.topic ? a.queueId - b.queueId : a.topic < b.topic ? -1 : 1));
    for (const id of ids) yield this.#rangeOf(id);
  }

  /** Throws QUEUE_UNKNOWN when the store has no such queue. */
  range(topic: string, queueId: number): QueueRange {
    const found = this.#queues.list().queues.find((queue) => queue.topic === topic && queue.queueId === queueId);
    if (found !== undefined) return this.#rangeOf(found);
    throw new KernelError('QUEUE_UNKNOWN', `the store has no queue ${queueId} of topic ${topic}`, {
      remedy: 'kernel store dump DIR without --topic lists all queues',
    });
  }

  /** At most `count` messages of a queue from an offset on, in its order. */
  *messages(range: QueueRange, from: number, count: number): Generator<DumpedRecord | DumpedGap> {
    const { topic, queueId, maxOffset } = range;
    const end = Math.min(maxOffset, from + count);
    for (let queueOffset = from; queueOffset < end; queueOffset += 1) {
      const unit = this.#queues.read(topic, queueId, queueOffset, 1);
      if (unit.length < UNIT_BYTES || !isRecordUnit(unit, 0)) {
        const isBlank = unit.length === UNIT_BYTES && isBlankUnit(unit, 0);
        yield { queueOffset, problem: isBlank ? 'the unit is marked blank' : 'there is no unit' };
        continue;
      }
      const physical = unitPhysicalOffset(unit, 0);
      const record = this.#recordAt(physical);
      yield record ?? { queueOffset, problem: `its unit points to ${physical}, ${this.#whyNot(physical)}` };
    }
  }

  /** The record that begins at a physical offset; throws RECORD_UNKNOWN when none does. */
  at(physicalOffset: number): DumpedRecord {
    const record = this.#recordAt(physicalOffset);
    if (record !== undefined) return record;
    throw new KernelError(
      'RECORD_UNKNOWN',
      `no record begins at physical offset ${physicalOffset}: ${this.#whyNot(physicalOffset)}`,
      {
        remedy: 'kernel store verify DIR tells whether the log is damaged there',
      },
    );
  }

  #rangeOf({ topic, queueId }: QueueId): QueueRange {
    const bounds = this.#queues.bounds(topic, queueId);
    const minOffset = this.#queues.minAbove(topic, queueId, this.#logMin, bounds);
    return { topic, queueId, minOffset, maxOffset: bounds.maxOffset };
  }

  #whyNot(physicalOffset: number): string {
    if (physicalOffset < this.#logMin) return `before the log's first offset ${this.#logMin}`;
    const end = this.#runs[this.#runs.length - 1]?.endOffset ?? 0;
    return physicalOffset >= end ? `behind the log's files, which end at ${end}` : 'where no whole record lies';
  }

  #recordAt(physicalOffset: number): DumpedRecord | undefined {
    if (!this.#lookup.find(physicalOffset)) return undefined;
    const message = decodeRecord(this.#lookup.bytes, this.#lookup.recordAt);
    const properties = parseProperties(message.properties);
    return {
      ...message,
      ...fileOf({ dir: this.#logDir, segmentBytes: this.#segmentBytes }, physicalOffset),
      ...bodyOf(message),
      properties,
      tags: properties.get(PropertyName.TAGS),
      keys: properties.get(PropertyName.KEYS),
      uniqKey: properties.get(PropertyName.UNIQ_KEY),
      sysFlagWords: sysFlagWords(message.sysFlag),
    };
  }
}

function bodyOf({ body, sysFlag }: StoredMessage): Pick<DumpedRecord, 'body' | 'storedBodyBytes' | 'bodyProblem'> {
  const storedBodyBytes = body.length;
  try {
    return { body: plainBody(body, sysFlag), storedBodyBytes };
  } catch (error) {
    return { body, storedBodyBytes, bodyProblem: messageOf(error) };
  }
}

const TRANSACTION_WORDS: Readonly<Record<number, string>> = {
  [SysFlag.TRANSACTION_PREPARED]: 'transaction prepared',
  [SysFlag.TRANSACTION_COMMIT]: 'transaction committed',
  [SysFlag.TRANSACTION_ROLLBACK]: 'transaction rolled back',
};
const COMPRESSION_WORDS: Readonly<Record<number, string>> = {
  0: 'zlib',
  [SysFlag.COMPRESSION_LZ4]: 'lz4',
  [SysFlag.COMPRESSION_ZSTD]: 'zstd',
  [SysFlag.COMPRESSION_ZLIB]: 'zlib',
};

/** What the bits of a message's sysFlag say (4.9: MessageSysFlag). */
export function sysFlagWords(sysFlag: number): string[] {
  const words: string[] = [];
  const has = (bit: number, word: string): void => void ((sysFlag & bit) !== 0 && words.push(word));
  if ((sysFlag & SysFlag.COMPRESSED) !== 0)
    words.push(`compressed (${COMPRESSION_WORDS[sysFlag & SysFlag.COMPRESSION_MASK] ?? 'unknown'})`);
  has(SysFlag.MULTI_TAGS, 'multi tags');
  const transaction = TRANSACTION_WORDS[sysFlag & SysFlag.TRANSACTION_ROLLBACK];
  if (transaction !== undefined) words.push(transaction);
  has(SysFlag.BORNHOST_V6, 'born host IPv6');
  has(SysFlag.STOREHOST_V6, 'store host IPv6');
  has(SysFlag.NEED_UNWRAP, 'need unwrap');
  has(SysFlag.INNER_BATCH, 'inner batch');
  return words;
}
