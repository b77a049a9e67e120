/**
 * Request frames that are encoded once and patched in place. Written apart from `protocol/` on purpose: the generator
 * must not depend on (or share an error with) the codec it loads.
 */
export type HeaderForm = 'binary' | 'json';

const LANGUAGE_JAVA = 0;
const VERSION_4_9_7 = 407;
/** JSON opaques keep this width, so that a patch never moves a byte. */
const JSON_OPAQUE_BASE = 1_000_000_000;

export interface Frame {
  readonly bytes: Buffer;
  readonly opaqueAt: number;
  readonly form: HeaderForm;
}

/** The bit of the flag word that says that no answer is wanted. */
export const ONE_WAY = 2;

export function encodeFrame(
  form: HeaderForm,
  code: number,
  ext: Record<string, string>,
  body: Buffer,
  flag: 0 | typeof ONE_WAY = 0,
): Frame {
  return form === 'binary' ? encodeBinary(code, ext, body, flag) : encodeJson(code, ext, body, flag);
}

/** Writes an opaque of 0 … 2^30 - 1 into a copy of the frame that starts at `at`. */
export function writeOpaque(target: Buffer, at: number, frame: Frame, opaque: number): void {
  if (frame.form === 'binary') target.writeInt32BE(JSON_OPAQUE_BASE + opaque, at + frame.opaqueAt);
  else writeDigits(target, at + frame.opaqueAt, JSON_OPAQUE_BASE + opaque);
}

/** Back from the number on the wire to the opaque that was written. */
export const slotOf = (wireOpaque: number): number => wireOpaque - JSON_OPAQUE_BASE;

function writeDigits(target: Buffer, at: number, value: number): void {
  let rest = value;
  for (let place = at + 9; place >= at; place--) {
    const next = Math.trunc(rest / 10);
    target[place] = 48 + (rest - next * 10);
    rest = next;
  }
}

/** length, 1 << 24 | header length, code(2) language(1) version(2) opaque(4) flag(4) remark(4 + n) ext(4 + n), body. */
function encodeBinary(code: number, ext: Record<string, string>, body: Buffer, flag: number): Frame {
  const fields = Object.entries(ext).map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const);
  const extLength = fields.reduce((sum, [name, value]) => sum + 6 + name.length + value.length, 0);
  const headerLength = 21 + extLength;
  const bytes = Buffer.alloc(8 + headerLength + body.length);
  bytes.writeInt32BE(4 + headerLength + body.length, 0);
  bytes.writeInt32BE((1 << 24) | headerLength, 4);
  bytes.writeInt16BE(code, 8);
  bytes.writeUInt8(LANGUAGE_JAVA, 10);
  bytes.writeInt16BE(VERSION_4_9_7, 11);
  bytes.writeInt32BE(flag, 17);
  bytes.writeInt32BE(extLength, 25);
  let at = 29;
  for (const [name, value] of fields) {
    at = bytes.writeInt16BE(name.length, at);
    at += name.copy(bytes, at);
    at = bytes.writeInt32BE(value.length, at);
    at += value.copy(bytes, at);
  }
  body.copy(bytes, at);
  return { bytes, opaqueAt: 13, form: 'binary' };
}

function encodeJson(code: number, ext: Record<string, string>, body: Buffer, flag: number): Frame {
  const start = `{"code":${code},"extFields":${JSON.stringify(ext)},"flag":${flag},"language":"JAVA","opaque":`;
  const end = `,"serializeTypeCurrentRPC":"JSON","version":${VERSION_4_9_7}}`;
  const header = Buffer.from(`${start}${JSON_OPAQUE_BASE}${end}`);
  const bytes = Buffer.alloc(8 + header.length + body.length);
  bytes.writeInt32BE(4 + header.length + body.length, 0);
  bytes.writeInt32BE(header.length, 4);
  header.copy(bytes, 8);
  body.copy(bytes, 8 + header.length);
  return { bytes, opaqueAt: 8 + Buffer.byteLength(start), form: 'json' };
}

/** What one answer says, read without decoding it: written to a shared object, so that nothing is allocated. */
export interface Answer {
  code: number;
  slot: number;
  bodyStart: number;
}

/** `start` is where the length word stands. Throws on a frame that is not an answer of this protocol. */
export function readAnswer(buffer: Buffer, start: number, end: number, answer: Answer): void {
  const word = buffer.readInt32BE(start + 4);
  answer.bodyStart = start + 8 + (word & 0xffffff);
  if (answer.bodyStart > end) throw new Error('answer with a header longer than its frame');
  if (word >>> 24 === 1) {
    answer.code = buffer.readInt16BE(start + 8);
    answer.slot = slotOf(buffer.readInt32BE(start + 13));
    return;
  }
  answer.code = numberAfter(buffer, findCode(buffer, start + 8, answer.bodyStart));
  answer.slot = slotOf(numberAfter(buffer, findOpaque(buffer, start + 8, answer.bodyStart)));
}

const CODE_KEY = Buffer.from('"code":');
const OPAQUE_KEY = Buffer.from('"opaque":');

/** The Java broker writes its keys in alphabetical order: the code stands first. */
function findCode(buffer: Buffer, from: number, to: number): number {
  if (buffer[from + 1] === 0x22 && buffer[from + 2] === 0x63 && buffer[from + 7] === 0x3a) return from + 8;
  return findKey(buffer, from, to, CODE_KEY);
}

/** Searched from the end: `opaque` follows the extension fields, which may be long. */
function findOpaque(buffer: Buffer, from: number, to: number): number {
  for (let at = to - OPAQUE_KEY.length; at > from; at--)
    if (buffer[at + 4] === 0x71 && buffer[at + 1] === 0x6f && buffer[at + 8] === 0x3a) return at + 9;
  return findKey(buffer, from, to, OPAQUE_KEY);
}

function findKey(buffer: Buffer, from: number, to: number, key: Buffer): number {
  const at = buffer.indexOf(key, from);
  if (at < 0 || at >= to) throw new Error(`answer without ${key.toString()}`);
  return at + key.length;
}

function numberAfter(buffer: Buffer, from: number): number {
  let at = from;
  const negative = buffer[at] === 0x2d;
  if (negative) at++;
  let value = 0;
  for (; buffer[at]! >= 48 && buffer[at]! <= 57; at++) value = value * 10 + buffer[at]! - 48;
  return negative ? -value : value;
}

/** The number in a field of an answer: the digits that follow the field's name, in either header form. */
export function numberField(buffer: Buffer, name: Buffer, from: number, to: number): number {
  let at = fieldEnd(buffer, name, from, to);
  while (at < to && (buffer[at]! < 48 || buffer[at]! > 57)) at++;
  let value = 0;
  for (; at < to && buffer[at]! >= 48 && buffer[at]! <= 57; at++) value = value * 10 + buffer[at]! - 48;
  return value;
}

const MESSAGE_ID = Buffer.from('msgId');
const POSITION_DIGITS = 16;

/** The physical offset with which the offset message id of a send's answer ends. */
export function positionInAnswer(buffer: Buffer, start: number, bodyStart: number): number {
  const name = fieldEnd(buffer, MESSAGE_ID, start, bodyStart);
  const binary = buffer[start + 4] === 1;
  const from = binary ? name + 4 : buffer.indexOf(0x22, name + 1) + 1;
  const end = binary ? from + buffer.readInt32BE(name) : buffer.indexOf(0x22, from);
  let value = 0;
  for (let at = end - POSITION_DIGITS; at < end; at++) value = value * 16 + hexDigit(buffer[at]!);
  return value;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code & 0xdf;
  if (letter >= 65 && letter <= 70) return letter - 55;
  throw new Error('answer with an offset message id that is none');
}

function fieldEnd(buffer: Buffer, name: Buffer, from: number, to: number): number {
  const at = buffer.indexOf(name, from);
  if (at < 0 || at >= to) throw new Error(`answer without ${name.toString()}`);
  return at + name.length;
}

/** The remark of an answer, for an error's text. */
export function remarkIn(buffer: Buffer, start: number, bodyStart: number): string {
  const text = buffer[start + 4] === 1 ? binaryRemark(buffer, start, bodyStart) : jsonRemark(buffer, start, bodyStart);
  return text === '' ? 'without a reason' : text;
}

function binaryRemark(buffer: Buffer, start: number, bodyStart: number): string {
  const length = Math.max(0, buffer.readInt32BE(start + 21));
  return buffer.toString('utf8', start + 25, Math.min(start + 25 + length, bodyStart));
}

function jsonRemark(buffer: Buffer, start: number, bodyStart: number): string {
  const found = /"remark":("(?:[^"\\]|\\.)*")/.exec(buffer.toString('utf8', start + 8, bodyStart));
  return found === null ? '' : (JSON.parse(found[1]!) as string);
}
