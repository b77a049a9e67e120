/**
 * A command is a frame: one request or one response.
 *
 *   int32  length       of all that follows
 *   uint8  serialize    0 JSON, 1 ROCKETMQ
 *   uint24 headerLength
 *   bytes  header       JSON: {"code","extFields","flag","language","opaque","remark","serializeTypeCurrentRPC","version"}
 *                       ROCKETMQ: int16 code, uint8 language, int16 version, int32 opaque, int32 flag, int32 + bytes remark,
 *                       int32 extLength, then per field int16 + bytes key, int32 + bytes value
 *   bytes  body
 *
 * 4.9: RemotingCommand, RocketMQSerializable, RemotingSerializable.
 */
import { CommandFlag, LanguageCode } from './codes.js';
import { ProtocolError } from './errors.js';
import { Serialize, type ExtFields } from './header-form.js';
import { readInt16, readInt32 } from './int64.js';
import { JsonHeaderScan } from './json-header.js';
import { EXT_FIELDS_MAX } from './limits.js';

export { ProtocolError } from './errors.js';
export { encodeRequest, encodeResponse, encodeResponseHeader } from './command-write.js';
export type { RequestFields, ResponseFields } from './command-write.js';
export { Serialize, type ExtFields } from './header-form.js';

/** A JSON header larger than this is counted before it is parsed. Answers to large batches have legitimately long headers. */
const JSON_UNCOUNTED_BYTES = 65536;
const JSON_MEMBERS_MAX = 65536;
const jsonMember = Buffer.from('":');
/** code, language, version, opaque, flag, remark length, ext length. */
const BINARY_FIXED_BYTES = 21;
const noBytes = Buffer.alloc(0);

/** One received command. `buffer` belongs to the socket's chunk: bytes kept beyond the call that hands it out must be copied. */
export class Request {
  private fields: ExtFields | undefined;

  constructor(
    readonly code: number,
    readonly flag: number,
    readonly opaque: number,
    readonly version: number,
    /** Number of LanguageCode; what the peer named otherwise is OTHER in JSON and the raw byte in the binary form. */
    readonly language: number,
    /** The form the header came in; the answer goes out in the same form. */
    readonly serialize: Serialize,
    readonly remark: string | null,
    fields: ExtFields | undefined,
    readonly buffer: Buffer,
    /** Byte range of the binary ext map, already checked to be well-formed; 0,0 for a JSON header. */
    readonly extStart: number,
    readonly extEnd: number,
    readonly bodyStart: number,
    readonly bodyEnd: number,
    /** Byte range of the fields of a JSON header in the plain shape, braces and all; 0,0 when they were parsed already. */
    readonly jsonExtStart = 0,
    readonly jsonExtEnd = 0,
  ) {
    this.fields = fields;
  }

  get ext(): ExtFields {
    return (this.fields ??= this.readExt());
  }

  private readExt(): ExtFields {
    if (this.serialize === Serialize.ROCKETMQ) return readExtMap(this.buffer, this.extStart, this.extEnd);
    if (this.jsonExtEnd === 0) return extFields(undefined);
    return extFields(JSON.parse(this.buffer.toString('utf8', this.jsonExtStart, this.jsonExtEnd)));
  }

  /** The bytes after the header, not copied; empty when there is no body. */
  get body(): Buffer {
    return this.bodyStart === this.bodyEnd ? noBytes : this.buffer.subarray(this.bodyStart, this.bodyEnd);
  }

  /** The same command over bytes of its own, to be kept beyond the call that handed it out. */
  copied(): Request {
    const start = this.extEnd > 0 ? this.extStart : this.jsonExtEnd > 0 ? this.jsonExtStart : this.bodyStart;
    const moved = (at: number): number => (at === 0 ? 0 : at - start);
    return new Request(
      this.code,
      this.flag,
      this.opaque,
      this.version,
      this.language,
      this.serialize,
      this.remark,
      this.fields,
      Buffer.from(this.buffer.subarray(start, this.bodyEnd)),
      moved(this.extStart),
      moved(this.extEnd),
      this.bodyStart - start,
      this.bodyEnd - start,
      moved(this.jsonExtStart),
      moved(this.jsonExtEnd),
    );
  }

  get oneway(): boolean {
    return (this.flag & CommandFlag.ONEWAY) !== 0;
  }

  get isResponse(): boolean {
    return (this.flag & CommandFlag.RESPONSE) !== 0;
  }
}

/** Reads the command in `buffer[start, end)`, the part of a frame after its length word. Throws ProtocolError. */
export function decodeCommand(buffer: Buffer, start: number, end: number): Request {
  if (end - start < 4) throw new ProtocolError(`frame of ${end - start} bytes has no header length`);
  const word = readInt32(buffer, start);
  const headerStart = start + 4;
  const headerEnd = headerStart + (word & 0xffffff);
  if (headerEnd > end) {
    throw new ProtocolError(`header of ${word & 0xffffff} bytes in a frame of ${end - start} bytes`);
  }
  switch (word >>> 24) {
    case Serialize.JSON:
      return decodeJson(buffer, headerStart, headerEnd, end);
    case Serialize.ROCKETMQ:
      return decodeBinary(buffer, headerStart, headerEnd, end);
    default:
      throw new ProtocolError(`unknown header type ${word >>> 24}`);
  }
}

// ---------------------------------------------------------------------------------------------------- JSON

type Parsed = Record<string, unknown>;

const scanned = new JsonHeaderScan();

function decodeJson(buffer: Buffer, start: number, end: number, frameEnd: number): Request {
  if (!scanned.scan(buffer, start, end)) return decodeParsed(buffer, start, end, frameEnd);
  const { code, flag, opaque, version, language, remark, extStart, extEnd } = scanned;
  return new Request(
    code,
    flag,
    opaque,
    version,
    language,
    Serialize.JSON,
    remark,
    undefined,
    buffer,
    0,
    0,
    end,
    frameEnd,
    extStart,
    extEnd,
  );
}

function decodeParsed(buffer: Buffer, start: number, end: number, frameEnd: number): Request {
  const header = parseJson(buffer, start, end);
  return new Request(
    integer(header, 'code'),
    integer(header, 'flag'),
    integer(header, 'opaque'),
    integer(header, 'version'),
    languageOf(header['language']),
    Serialize.JSON,
    remarkOf(header['remark']),
    extFields(header['extFields']),
    buffer,
    0,
    0,
    end,
    frameEnd,
  );
}

function parseJson(buffer: Buffer, start: number, end: number): Parsed {
  if (end - start > JSON_UNCOUNTED_BYTES) boundMembers(buffer, start, end);
  let header: unknown;
  try {
    header = JSON.parse(buffer.toString('utf8', start, end));
  } catch (error) {
    throw new ProtocolError('header is not JSON', { cause: error });
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw new ProtocolError('header is not a JSON object');
  }
  return header as Parsed;
}

function boundMembers(buffer: Buffer, start: number, end: number): void {
  let count = 0;
  for (let at = buffer.indexOf(jsonMember, start); at >= 0 && at < end; at = buffer.indexOf(jsonMember, at + 2)) {
    if (++count > JSON_MEMBERS_MAX) throw new ProtocolError(`header has more than ${JSON_MEMBERS_MAX} members`);
  }
}

/** A missing number is 0 and digits in quotes are a number, as fastjson casts them. */
function integer(header: Parsed, name: string): number {
  const value = header[name];
  if (typeof value === 'number' && Number.isInteger(value)) return value | 0;
  if (value === undefined || value === null) return 0;
  if (typeof value === 'string' && /^-?\d{1,10}$/.test(value)) return Number(value) | 0;
  throw new ProtocolError(`header member ${name} is not an integer`);
}

function languageOf(value: unknown): number {
  if (value === undefined || value === null) return LanguageCode.JAVA;
  if (typeof value === 'number' && Number.isInteger(value)) return value & 0xff;
  if (typeof value !== 'string') throw new ProtocolError('header member language is not a name');
  return Object.hasOwn(LanguageCode, value) ? LanguageCode[value as keyof typeof LanguageCode] : LanguageCode.OTHER;
}

function remarkOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  throw new ProtocolError('header member remark is not a string');
}

function extFields(value: unknown): ExtFields {
  if (value === undefined || value === null) return Object.create(null) as ExtFields;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ProtocolError('header member extFields is not an object');
  const fields = value as Record<string, unknown>;
  // JSON.parse makes `__proto__` an own member; without a prototype it stays one on every later access.
  Object.setPrototypeOf(fields, null);
  let count = 0;
  for (const name in fields) {
    if (++count > EXT_FIELDS_MAX) throw new ProtocolError(`header has more than ${EXT_FIELDS_MAX} fields`);
    const field = fields[name];
    if (typeof field !== 'string') castField(fields, name, field);
  }
  return fields as ExtFields;
}

/** fastjson puts numbers and booleans as text into a map of strings. */
function castField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value === null) delete fields[name];
  else if (typeof value === 'number' || typeof value === 'boolean') fields[name] = String(value);
  else throw new ProtocolError('a header field is neither string, number nor boolean');
}

// ---------------------------------------------------------------------------------------------------- binary

function decodeBinary(buffer: Buffer, start: number, end: number, frameEnd: number): Request {
  if (end - start < BINARY_FIXED_BYTES) throw new ProtocolError(`binary header of ${end - start} bytes is too short`);
  const remarkBytes = readInt32(buffer, start + 13);
  const remarkStart = start + 17;
  if (remarkBytes < 0 || remarkBytes > end - start - BINARY_FIXED_BYTES) {
    throw new ProtocolError(`remark of ${remarkBytes} bytes in a header of ${end - start} bytes`);
  }
  const extStart = remarkStart + remarkBytes + 4;
  const extBytes = readInt32(buffer, extStart - 4);
  const extEnd = extStart + extBytes;
  if (extBytes < 0 || extEnd > end) {
    throw new ProtocolError(`header fields of ${extBytes} bytes in a header of ${end - start} bytes`);
  }
  checkExtMap(buffer, extStart, extEnd);
  return new Request(
    readInt16(buffer, start),
    readInt32(buffer, start + 9),
    readInt32(buffer, start + 5),
    readInt16(buffer, start + 3),
    buffer[start + 2] as number,
    Serialize.ROCKETMQ,
    remarkBytes === 0 ? null : buffer.toString('utf8', remarkStart, remarkStart + remarkBytes),
    undefined,
    buffer,
    extStart,
    extEnd,
    end,
    frameEnd,
  );
}

/** Walks the lengths once, so that whoever reads the map later, lazily, meets no broken one. */
function checkExtMap(buffer: Buffer, start: number, end: number): void {
  let count = 0;
  for (let at = start; at < end;) {
    if (++count > EXT_FIELDS_MAX) throw new ProtocolError(`header has more than ${EXT_FIELDS_MAX} fields`);
    if (at + 6 > end) throw new ProtocolError('header field is cut off');
    const keyBytes = readInt16(buffer, at);
    const valueAt = at + 2 + keyBytes;
    if (keyBytes < 0 || valueAt + 4 > end) throw new ProtocolError('header field name is longer than the header');
    const valueBytes = readInt32(buffer, valueAt);
    if (valueBytes < 0 || valueBytes > end - valueAt - 4) {
      throw new ProtocolError('header field value is longer than the header');
    }
    at = valueAt + 4 + valueBytes;
  }
}

/** 4.9 reads an empty string as null, so a field without content counts as missing. */
function readExtMap(buffer: Buffer, start: number, end: number): ExtFields {
  const fields = Object.create(null) as Record<string, string>;
  for (let at = start; at < end;) {
    const keyAt = at + 2;
    const valueAt = keyAt + buffer.readInt16BE(at) + 4;
    at = valueAt + buffer.readInt32BE(valueAt - 4);
    if (keyAt < valueAt - 4 && valueAt < at) {
      fields[buffer.toString('utf8', keyAt, valueAt - 4)] = buffer.toString('utf8', valueAt, at);
    }
  }
  return fields;
}
