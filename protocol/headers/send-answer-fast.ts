/**
 * The answer to a stored message, written straight into the connection's outbound buffer without a string or an object. Byte
 * for byte what `encodeResponse` makes of `encodeSendMessageResponse`.
 */
import { LanguageCode, Version, CommandFlag } from '../codes.js';
import { Serialize, type ExtFields } from '../command.js';
import { quoted } from '../json-text.js';
import { encodeSendMessageResponse } from './send-message.js';

const hexDigits = Buffer.from('0123456789ABCDEF');
const NUMBER_BYTES_MAX = 20;
/** Digits of powers of ten that a number is split by; below 2^53 two steps are enough. */
const BILLION = 1e9;

/** Writes decimal digits of a whole number below 2^53 and returns the position after them. */
export function writeDecimal(target: Buffer, value: number, at: number): number {
  if (value < 0) {
    target[at] = 0x2d;
    return writeDecimal(target, -value, at + 1);
  }
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits++;
  let rest = value;
  let to = at + digits;
  while (rest >= BILLION) {
    const high = Math.floor(rest / 10);
    target[--to] = 0x30 + (rest - high * 10);
    rest = high;
  }
  let small = rest | 0;
  while (to > at) {
    const high = (small / 10) | 0;
    target[--to] = 0x30 + (small - high * 10);
    small = high;
  }
  return at + digits;
}

function writeHex32(target: Buffer, value: number, at: number): void {
  for (let index = 7, rest = value; index >= 0; index--, rest >>>= 4)
    target[at + index] = hexDigits[rest & 15] as number;
}

type Slot = 'msgId' | 'queueId' | 'queueOffset';
interface Part {
  readonly bytes: Buffer;
  readonly slot: Slot | undefined;
}

const slots: ReadonlySet<string> = new Set(['msgId', 'queueId', 'queueOffset']);

/** Bound to what does not change from answer to answer: region, trace switch and the store's host, which the message id begins with. */
export class SendAnswer {
  /** Space that the answer to a single message needs at most. */
  private readonly bytesMax: number;
  private readonly idPrefix: Buffer;
  private readonly json: readonly Part[];
  private readonly jsonHead = Buffer.from('{"code":');
  private readonly jsonTail = Buffer.from(`,"serializeTypeCurrentRPC":"JSON","version":${Version.current}}`);
  private readonly jsonOpaque = Buffer.from(`},"flag":${CommandFlag.RESPONSE},"language":"JAVA","opaque":`);
  private readonly names = {
    msgId: binaryName('msgId'),
    queueId: binaryName('queueId'),
    queueOffset: binaryName('queueOffset'),
  };
  private readonly added: Buffer;

  /** `storeAddress` of 4 or 16 bytes. */
  constructor(region: string, traceOn: boolean, storeAddress: Uint8Array, storePort: number) {
    const fixed = { MSG_REGION: region, TRACE_ON: String(traceOn) };
    const sample = { ...fixed, msgId: '', queueId: 0, queueOffset: 0 };
    const port = Buffer.alloc(4);
    port.writeInt32BE(storePort);
    this.idPrefix = Buffer.from(Buffer.concat([storeAddress, port]).toString('hex').toUpperCase());
    this.json = jsonParts(encodeSendMessageResponse(sample, Serialize.JSON));
    this.added = Buffer.concat(
      Object.entries(encodeSendMessageResponse(sample, Serialize.ROCKETMQ))
        .filter(([name]) => !slots.has(name))
        .map(([name, value]) => binaryField(name, value)),
    );
    const fixedBytes = this.json.reduce((sum, part) => sum + part.bytes.length, 0) + this.added.length;
    this.bytesMax = 256 + fixedBytes + this.idBytes + 4 * NUMBER_BYTES_MAX;
  }

  private get idBytes(): number {
    return this.idPrefix.length + 16;
  }

  /** Space that the answer to so many messages needs at most. */
  bytesFor(messages: number): number {
    return this.bytesMax + (messages - 1) * (this.idBytes + 1);
  }

  /**
   * Writes the whole frame at `at`, where `bytesFor` bytes must be free; returns the position after it. A batch has a physical offset,
   * and so a message id, for each of its messages: the first one's and those of the others.
   */
  write(
    target: Buffer,
    at: number,
    to: { readonly opaque: number; readonly serialize: Serialize },
    code: number,
    queueId: number,
    queueOffset: number,
    physicalOffset: number,
    others: readonly number[],
  ): number {
    const end =
      to.serialize === Serialize.JSON
        ? this.writeJson(target, at + 8, to.opaque, code, queueId, queueOffset, physicalOffset, others)
        : this.writeBinary(target, at + 8, to.opaque, code, queueId, queueOffset, physicalOffset, others);
    target.writeInt32BE(end - at - 4, at);
    target.writeUInt32BE(((to.serialize << 24) | (end - at - 8)) >>> 0, at + 4);
    return end;
  }

  private writeJson(
    target: Buffer,
    start: number,
    opaque: number,
    code: number,
    queueId: number,
    queueOffset: number,
    physicalOffset: number,
    others: readonly number[],
  ): number {
    let at = writeDecimal(target, code, put(target, this.jsonHead, start));
    for (const { bytes, slot } of this.json) {
      at = put(target, bytes, at);
      if (slot === 'msgId') at = this.writeIds(target, at, physicalOffset, others);
      else if (slot !== undefined) at = writeDecimal(target, slot === 'queueId' ? queueId : queueOffset, at);
    }
    return put(target, this.jsonTail, writeDecimal(target, opaque, put(target, this.jsonOpaque, at)));
  }

  /** 4.9: SendMessageResponseHeader#encode in declared order, then what was added by hand. */
  private writeBinary(
    target: Buffer,
    start: number,
    opaque: number,
    code: number,
    queueId: number,
    queueOffset: number,
    physicalOffset: number,
    others: readonly number[],
  ): number {
    let at = target.writeInt16BE(code, start);
    target[at] = LanguageCode.JAVA;
    at = target.writeInt16BE(Version.current, at + 1);
    at = target.writeInt32BE(opaque, at);
    at = target.writeInt32BE(CommandFlag.RESPONSE, at);
    const extAt = target.writeInt32BE(0, at) + 4;
    const idsBytes = this.idBytes + others.length * (this.idBytes + 1);
    at = target.writeInt32BE(idsBytes, put(target, this.names.msgId, extAt));
    at = this.writeIds(target, at, physicalOffset, others);
    at = writeNumberField(target, this.names.queueId, queueId, at);
    at = writeNumberField(target, this.names.queueOffset, queueOffset, at);
    at = put(target, this.added, at);
    target.writeInt32BE(at - extAt, extAt - 4);
    return at;
  }

  /** Comma-joined. */
  private writeIds(target: Buffer, at: number, physicalOffset: number, others: readonly number[]): number {
    let to = this.writeId(target, at, physicalOffset);
    for (let i = 0; i < others.length; i++) {
      target[to] = 0x2c;
      to = this.writeId(target, to + 1, others[i]);
    }
    return to;
  }

  private writeId(target: Buffer, at: number, physicalOffset: number): number {
    const high = Math.floor(physicalOffset / 4294967296);
    const to = put(target, this.idPrefix, at);
    writeHex32(target, high, to);
    writeHex32(target, physicalOffset - high * 4294967296, to + 8);
    return to + 16;
  }
}

function put(target: Buffer, bytes: Buffer, at: number): number {
  target.set(bytes, at);
  return at + bytes.length;
}

function writeNumberField(target: Buffer, name: Buffer, value: number, at: number): number {
  const valueAt = put(target, name, at) + 4;
  const end = writeDecimal(target, value, valueAt);
  target.writeInt32BE(end - valueAt, valueAt - 4);
  return end;
}

function binaryName(name: string): Buffer {
  const bytes = Buffer.alloc(2 + name.length);
  bytes.writeInt16BE(name.length);
  bytes.write(name, 2);
  return bytes;
}

function binaryField(name: string, value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(value));
  return Buffer.concat([binaryName(name), length, Buffer.from(value)]);
}

/** The ext fields in the original's order, cut where a value has to be filled in. */
function jsonParts(sample: ExtFields): Part[] {
  const parts: Part[] = [];
  let text = ',"extFields":{';
  let comma = '';
  for (const [name, value] of Object.entries(sample)) {
    text += `${comma}${quoted(name)}:`;
    comma = ',';
    if (slots.has(name)) {
      parts.push({ bytes: Buffer.from(`${text}"`), slot: name as Slot });
      text = '"';
    } else text += quoted(value);
  }
  parts.push({ bytes: Buffer.from(text), slot: undefined });
  return parts;
}
