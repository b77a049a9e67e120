import { encodeFrame, numberField, type HeaderForm } from './frames.js';
import type { TopicQueue } from './load.js';
import { NumberFrame } from './number-frame.js';

const PULL_MESSAGE = 11;
const PULL_FLAG_SUSPEND = 2;
const PULL_FLAG_SUBSCRIPTION = 4;

export interface PullShape {
  readonly form: HeaderForm;
  readonly group: string;
  readonly perPull: number;
  /** The group subscribes by a heartbeat and pulls by that; otherwise each pull carries the filter, and no heartbeat is needed. */
  readonly joins?: boolean;
  /** TAG or SQL92, and its expression. */
  readonly filter: { readonly type: string; readonly expression: string };
  /** How long a broker holds a pull that finds nothing; 0: it answers at once. */
  readonly suspendMs: number;
}

/** A pull request, of which the offset changes from pull to pull. */
export class PullFrame {
  readonly #frame: NumberFrame;
  readonly #offset = new Float64Array(1);

  constructor(shape: PullShape, { topic, queueId }: TopicQueue) {
    const marker = '918273645918273';
    const ext = {
      consumerGroup: shape.group,
      topic,
      queueId: String(queueId),
      queueOffset: marker,
      maxMsgNums: String(shape.perPull),
      sysFlag: String(
        (shape.joins === true ? 0 : PULL_FLAG_SUBSCRIPTION) | (shape.suspendMs > 0 ? PULL_FLAG_SUSPEND : 0),
      ),
      commitOffset: '0',
      suspendTimeoutMillis: String(shape.suspendMs),
      subscription: shape.filter.expression,
      subVersion: '0',
      expressionType: shape.filter.type,
    };
    this.#frame = new NumberFrame(encodeFrame(shape.form, PULL_MESSAGE, ext, Buffer.alloc(0)), marker);
  }

  get bytesMax(): number {
    return this.#frame.bytesMax;
  }

  /** Writes the request for this offset; returns where it ends. */
  write(target: Buffer, at: number, offset: number, slot: number): number {
    this.#offset[0] = offset;
    return this.#frame.write(target, at, this.#offset, slot);
  }
}

const NEXT_OFFSET_KEY = Buffer.from('nextBeginOffset');

export function nextOffsetIn(buffer: Buffer, from: number, to: number): number {
  return numberField(buffer, NEXT_OFFSET_KEY, from, to);
}

/** Takes the record at `at`; may be called many thousand times a second. */
export type TakeRecord = (buffer: Buffer, at: number, size: number) => void;

/** Walks the stored records of a pull answer; returns how many there are. */
export function readRecords(buffer: Buffer, start: number, end: number, take?: TakeRecord): number {
  let count = 0;
  for (let at = start; at < end; count++) {
    const size = at + 4 <= end ? buffer.readInt32BE(at) : 0;
    if (size <= 28 || at + size > end) throw new Error(`record of ${size} bytes in a pull answer of ${end - start}`);
    if (take !== undefined) take(buffer, at, size);
    at += size;
  }
  return count;
}

/** IPv6 addresses of who sent and who stored it are 12 bytes longer. */
const BORN_V6 = 1 << 4;
const STORE_V6 = 1 << 5;

/** Where the body's length word stands in a stored record. */
export function bodyLengthAt(buffer: Buffer, at: number): number {
  const flags = buffer[at + 39]!;
  return at + 84 + ((flags & BORN_V6) === 0 ? 0 : 12) + ((flags & STORE_V6) === 0 ? 0 : 12);
}

/** When a record was stored, in milliseconds since the epoch. */
export function storeTimeIn(buffer: Buffer, at: number): number {
  const timeAt = at + 56 + ((buffer[at + 39]! & BORN_V6) === 0 ? 0 : 12);
  return buffer.readUInt32BE(timeAt) * 2 ** 32 + buffer.readUInt32BE(timeAt + 4);
}
