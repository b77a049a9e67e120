import { encodeFrame, writeOpaque, type Frame, type HeaderForm } from './frames.js';
import type { TopicQueue } from './load.js';

const PULL_MESSAGE = 11;
const PULL_FLAG_SUSPEND = 2;
const PULL_FLAG_SUBSCRIPTION = 4;
/** The largest offset has as many digits. */
const OFFSET_DIGITS = 16;

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

/** A pull request split around its offset, the only part whose length changes from pull to pull. */
export class PullFrame {
  readonly #frame: Frame;
  readonly #valueAt: number;
  readonly #valueEnd: number;

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
    this.#frame = encodeFrame(shape.form, PULL_MESSAGE, ext, Buffer.alloc(0));
    this.#valueAt = this.#frame.bytes.indexOf(marker);
    this.#valueEnd = this.#valueAt + marker.length;
  }

  get bytesMax(): number {
    return this.#frame.bytes.length - (this.#valueEnd - this.#valueAt) + OFFSET_DIGITS;
  }

  /** Writes the request for this offset; returns where it ends. */
  write(target: Buffer, at: number, offset: number, slot: number): number {
    const { bytes, form } = this.#frame;
    const valueAt = at + this.#valueAt;
    const digits = digitsOf(offset);
    const shift = digits - (this.#valueEnd - this.#valueAt);
    bytes.copy(target, at, 0, this.#valueAt);
    writeDigits(target, valueAt, digits, offset);
    bytes.copy(target, valueAt + digits, this.#valueEnd);
    target.writeInt32BE(bytes.readInt32BE(0) + shift, at);
    target.writeInt32BE(bytes.readInt32BE(4) + shift, at + 4);
    if (form === 'binary') {
      target.writeInt32BE(bytes.readInt32BE(25) + shift, at + 25);
      target.writeInt32BE(digits, valueAt - 4);
      writeOpaque(target, at, this.#frame, slot);
    } else {
      // The opaque stands behind the offset.
      writeOpaque(target, at + shift, this.#frame, slot);
    }
    return at + bytes.length + shift;
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}

function writeDigits(target: Buffer, at: number, digits: number, value: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    target[place] = 48 + (rest - next * 10);
    rest = next;
  }
}

const NEXT_OFFSET_KEY = Buffer.from('nextBeginOffset');

/** The digits that follow the field's name, in either header form. */
export function nextOffsetIn(buffer: Buffer, from: number, to: number): number {
  let at = buffer.indexOf(NEXT_OFFSET_KEY, from);
  if (at < 0 || at >= to) throw new Error('pull answer without nextBeginOffset');
  at += NEXT_OFFSET_KEY.length;
  while (at < to && (buffer[at]! < 48 || buffer[at]! > 57)) at++;
  let value = 0;
  for (; at < to && buffer[at]! >= 48 && buffer[at]! <= 57; at++) value = value * 10 + buffer[at]! - 48;
  return value;
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
