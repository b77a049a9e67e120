/**
 * The header of END_TRANSACTION as the network thread reads it: into one reused struct, from the bytes. Same values as
 * end-transaction.ts, which also says what is wrong with a header that is not of the plain shape.
 */
import { Serialize, type Request } from '../command.js';
import { skipString } from '../json-bytes.js';
import { KnownStrings } from '../known-strings.js';
import { decodeEndTransaction } from './end-transaction.js';

/** Bits of the required fields. */
const Part = { producerGroup: 1, tranStateTableOffset: 2, commitLogOffset: 4, commitOrRollback: 8, msgId: 16 } as const;
const ALL = 31;
const names = Object.entries(Part).map(([name, part]) => ({ bytes: Buffer.from(name), part }));
/** Digits of numbers that a loop of multiplications keeps exact. */
const EXACT_DIGITS = 15;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;

/** Valid until the next `read`. What is done with an ending needs no more of its header. */
export class EndFields {
  producerGroup = '';
  tranStateTableOffset = 0;
  commitLogOffset = 0;
  commitOrRollback = 0;
  readonly #known = new KnownStrings();
  #present = 0;

  /** Throws FieldError. */
  read(request: Request): void {
    this.#present = 0;
    const isPlain = request.serialize === Serialize.ROCKETMQ ? this.#readBinary(request) : this.#readJson(request);
    if (isPlain && this.#present === ALL) return;
    const { producerGroup, tranStateTableOffset, commitLogOffset, commitOrRollback } = decodeEndTransaction(
      request.ext,
    );
    this.producerGroup = producerGroup;
    this.tranStateTableOffset = tranStateTableOffset;
    this.commitLogOffset = commitLogOffset;
    this.commitOrRollback = commitOrRollback;
  }

  /** The map's lengths were checked when the command was decoded. */
  #readBinary({ buffer, extStart, extEnd }: Request): boolean {
    for (let at = extStart; at < extEnd;) {
      const nameBytes = ((buffer[at] as number) << 8) | (buffer[at + 1] as number);
      const valueAt = at + 6 + nameBytes;
      const end = valueAt + buffer.readInt32BE(valueAt - 4);
      if (!this.#take(buffer, at + 2, nameBytes, valueAt, end)) return false;
      at = end;
    }
    return true;
  }

  /** `{"name":"value",…}` without a space between; a value with an escape is not plain. */
  #readJson({ buffer, jsonExtStart, jsonExtEnd }: Request): boolean {
    if (jsonExtEnd === 0) return false;
    for (let at = jsonExtStart + 1; buffer[at] !== CLOSE;) {
      const nameEnd = skipString(buffer, at + 1) - 1;
      const valueAt = nameEnd + 3;
      const end = skipString(buffer, valueAt);
      for (let i = valueAt; i < end; i++) if (buffer[i] === BACKSLASH) return false;
      if (!this.#take(buffer, at + 1, nameEnd - at - 1, valueAt, end - 1)) return false;
      at = buffer[end] === CLOSE ? end : end + 1;
    }
    return true;
  }

  /** False when the value cannot be read here. */
  #take(buffer: Buffer, nameAt: number, nameBytes: number, start: number, end: number): boolean {
    const part = partOf(buffer, nameAt, nameBytes);
    this.#present |= part;
    switch (part) {
      case Part.producerGroup:
        this.producerGroup = this.#known.text(buffer, start, end);
        return end > start;
      case Part.tranStateTableOffset:
        return (this.tranStateTableOffset = digits(buffer, start, end)) >= 0;
      case Part.commitLogOffset:
        return (this.commitLogOffset = digits(buffer, start, end)) >= 0;
      case Part.commitOrRollback:
        return (this.commitOrRollback = digits(buffer, start, end)) >= 0 && this.commitOrRollback <= 0x7fffffff;
      case Part.msgId:
        return end > start;
      default:
        return true;
    }
  }
}

function partOf(buffer: Buffer, at: number, length: number): number {
  next: for (const { bytes, part } of names) {
    if (bytes.length !== length) continue;
    for (let i = 0; i < length; i++) if (bytes[i] !== buffer[at + i]) continue next;
    return part;
  }
  return 0;
}

/** -1 for anything but a few plain digits. */
function digits(buffer: Buffer, start: number, end: number): number {
  if (end === start || end - start > EXACT_DIGITS) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (buffer[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
