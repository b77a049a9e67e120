/** The writing half of command.ts, which describes the layout. */
import { CommandFlag, LanguageCode, Version, languageName } from './codes.js';
import { Serialize, type ExtFields } from './header-form.js';
import { quoted } from './json-text.js';

/** code, language, version, opaque, flag, remark length, ext length. */
const BINARY_FIXED_BYTES = 21;
const CODE_MAX = 32767;

export interface ResponseFields {
  readonly code: number;
  readonly remark?: string | null | undefined;
  /** Undefined leaves `extFields` out, an empty object writes it empty: 4.9 does so for an answer that has a header class. */
  readonly ext?: ExtFields | undefined;
}

export interface RequestFields {
  readonly code: number;
  readonly opaque: number;
  readonly oneway?: boolean | undefined;
  readonly ext?: ExtFields | undefined;
  readonly body?: Uint8Array | undefined;
  readonly serialize?: Serialize | undefined;
  /** Default JAVA: what the compatible client says it is. */
  readonly language?: number | undefined;
  readonly version?: number | undefined;
  readonly remark?: string | null | undefined;
}

/** The whole frame of an answer, in the form the request came in. */
export function encodeResponse(
  to: { readonly opaque: number; readonly serialize: Serialize },
  reply: ResponseFields & { readonly body?: Uint8Array | undefined },
): Buffer {
  return encodeFrame(
    { ...head, code: reply.code, opaque: to.opaque, flag: CommandFlag.RESPONSE, remark: reply.remark, ext: reply.ext },
    to.serialize,
    reply.body,
    reply.body?.length ?? 0,
  );
}

/** The frame of an answer up to its body of `bodyBytes` bytes, which the caller writes after it. */
export function encodeResponseHeader(
  to: { readonly opaque: number; readonly serialize: Serialize },
  reply: ResponseFields,
  bodyBytes: number,
): Buffer {
  return encodeFrame(
    { ...head, code: reply.code, opaque: to.opaque, flag: CommandFlag.RESPONSE, remark: reply.remark, ext: reply.ext },
    to.serialize,
    undefined,
    bodyBytes,
  );
}

/** The whole frame of a request. */
export function encodeRequest(request: RequestFields): Buffer {
  const { code, opaque, oneway, ext, body, serialize, remark: text } = request;
  return encodeFrame(
    {
      code,
      opaque,
      flag: oneway === true ? CommandFlag.ONEWAY : 0,
      language: request.language ?? LanguageCode.JAVA,
      version: request.version ?? Version.current,
      remark: text,
      ext,
    },
    serialize ?? Serialize.JSON,
    body,
    body?.length ?? 0,
  );
}

interface HeaderValues {
  readonly code: number;
  readonly flag: number;
  readonly opaque: number;
  readonly language: number;
  readonly version: number;
  readonly remark: string | null | undefined;
  readonly ext: ExtFields | undefined;
}

/** 4.9.7 answers as Java in its own version, whoever asks. */
const head = { language: LanguageCode.JAVA, version: Version.current };

function encodeFrame(
  header: HeaderValues,
  serialize: Serialize,
  body: Uint8Array | undefined,
  bodyBytes: number,
): Buffer {
  return serialize === Serialize.JSON ? encodeJson(header, body, bodyBytes) : encodeBinary(header, body, bodyBytes);
}

/** Returns space for the frame with its two length words set; the body, when given, is copied in. */
function allocateFrame(
  serialize: Serialize,
  headerBytes: number,
  body: Uint8Array | undefined,
  bodyBytes: number,
): Buffer {
  if (headerBytes > 0xffffff)
    throw new RangeError(`command header of ${headerBytes} bytes does not fit its 24-bit length`);
  const frame = Buffer.allocUnsafe(8 + headerBytes + (body?.length ?? 0));
  frame.writeInt32BE(4 + headerBytes + bodyBytes, 0);
  frame.writeUInt32BE(((serialize << 24) | headerBytes) >>> 0, 4);
  if (body !== undefined) frame.set(body, 8 + headerBytes);
  return frame;
}

function encodeJson(header: HeaderValues, body: Uint8Array | undefined, bodyBytes: number): Buffer {
  const text = jsonHeader(header);
  const headerBytes = Buffer.byteLength(text);
  const frame = allocateFrame(Serialize.JSON, headerBytes, body, bodyBytes);
  frame.write(text, 8, headerBytes);
  return frame;
}

/** Members in the order in which fastjson writes the bean: sorted, null ones left out. */
function jsonHeader(header: HeaderValues): string {
  let text = `{"code":${header.code},`;
  if (header.ext !== undefined) {
    let fields = '';
    for (const name in header.ext)
      fields += `${fields === '' ? '' : ','}${quoted(name)}:${quoted(header.ext[name] as string)}`;
    text += `"extFields":{${fields}},`;
  }
  text += `"flag":${header.flag},"language":"${languageName(header.language)}","opaque":${header.opaque},`;
  if (header.remark !== undefined && header.remark !== null) text += `"remark":${quoted(header.remark)},`;
  return `${text}"serializeTypeCurrentRPC":"JSON","version":${header.version}}`;
}

function encodeBinary(header: HeaderValues, body: Uint8Array | undefined, bodyBytes: number): Buffer {
  if (header.code > CODE_MAX) throw new RangeError(`code ${header.code} does not fit the binary header`);
  const text = header.remark ?? '';
  const remarkBytes = Buffer.byteLength(text);
  let extBytes = 0;
  if (header.ext !== undefined) {
    for (const name in header.ext) {
      extBytes += 6 + Buffer.byteLength(name) + Buffer.byteLength(header.ext[name] as string);
    }
  }
  const frame = allocateFrame(Serialize.ROCKETMQ, BINARY_FIXED_BYTES + remarkBytes + extBytes, body, bodyBytes);
  let at = frame.writeInt16BE(header.code, 8);
  at = frame.writeUInt8(header.language, at);
  at = frame.writeInt16BE(header.version, at);
  at = frame.writeInt32BE(header.opaque, at);
  at = frame.writeInt32BE(header.flag, at);
  at = frame.writeInt32BE(remarkBytes, at);
  at += frame.write(text, at);
  at = frame.writeInt32BE(extBytes, at);
  if (header.ext !== undefined) {
    for (const name in header.ext) at = writeField(frame, at, name, header.ext[name] as string);
  }
  return frame;
}

function writeField(frame: Buffer, at: number, name: string, value: string): number {
  const nameBytes = frame.write(name, at + 2);
  frame.writeInt16BE(nameBytes, at);
  const valueAt = at + 2 + nameBytes;
  const valueBytes = frame.write(value, valueAt + 4);
  frame.writeInt32BE(valueBytes, valueAt);
  return valueAt + 4 + valueBytes;
}
