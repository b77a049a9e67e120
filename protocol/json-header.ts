/**
 * Reads the JSON header in the plain shape that clients write, from its bytes, without building objects: most of the cost of a
 * send is its header otherwise. What is shaped otherwise (space between tokens, escaped names, values of other kinds, broken
 * JSON) is left to JSON.parse, which decides what is valid; both give the same values.
 */
import { LanguageCode } from './codes.js';
import { EXT_FIELDS_MAX } from './limits.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const CLOSE = 0x7d;
const OPEN = 0x7b;
/** An int32 has no more digits; a longer number, or a larger one, is left to JSON.parse. */
const DIGITS_MAX = 10;
const INT_MAX = 0x7fffffff;

/** 1 for the bytes at which reading a string has to look closer: quote, backslash and control characters. */
const special = new Uint8Array(256)
  .fill(1, 0, 0x20)
  .fill(1, QUOTE, QUOTE + 1)
  .fill(1, BACKSLASH, BACKSLASH + 1);

const names = ['code', 'flag', 'opaque', 'version', 'language', 'remark', 'extFields'] as const;
const nameBytes = names.map((name) => Buffer.from(name));
const java = Buffer.from('JAVA');

export class JsonHeaderScan {
  code = 0;
  flag = 0;
  opaque = 0;
  version = 0;
  language: number = LanguageCode.JAVA;
  remark: string | null = null;
  /** Range of the header fields with their braces; 0,0 when there are none. */
  extStart = 0;
  extEnd = 0;
  private buffer: Buffer = Buffer.alloc(0);
  private at = 0;
  private end = 0;
  private number = 0;

  /** False when the header in `buffer[start, end)` has another shape; the fields mean nothing then. */
  scan(buffer: Buffer, start: number, end: number): boolean {
    this.code = 0;
    this.flag = 0;
    this.opaque = 0;
    this.version = 0;
    this.language = LanguageCode.JAVA;
    this.remark = null;
    this.extStart = 0;
    this.extEnd = 0;
    this.buffer = buffer;
    this.at = start;
    this.end = end;
    return this.take(OPEN) && this.members() && this.at === end;
  }

  private members(): boolean {
    do {
      if (!this.take(QUOTE)) return false;
      const nameAt = this.at;
      const nameEnd = this.plainString();
      if (nameEnd < 0 || !this.take(COLON) || !this.value(nameAt, nameEnd)) return false;
    } while (this.take(COMMA));
    return this.take(CLOSE);
  }

  private value(nameAt: number, nameEnd: number): boolean {
    switch (this.nameOf(nameAt, nameEnd)) {
      case 'code':
        if (!this.integer()) return false;
        this.code = this.number;
        return true;
      case 'flag':
        if (!this.integer()) return false;
        this.flag = this.number;
        return true;
      case 'opaque':
        if (!this.integer()) return false;
        this.opaque = this.number;
        return true;
      case 'version':
        if (!this.integer()) return false;
        this.version = this.number;
        return true;
      case 'language':
        return this.readLanguage();
      case 'remark':
        return this.readRemark();
      case 'extFields':
        return this.fields();
      default:
        return this.take(QUOTE) && this.plainString() >= 0;
    }
  }

  private nameOf(at: number, end: number): (typeof names)[number] | undefined {
    for (let index = 0; index < names.length; index++) {
      if (equal(this.buffer, at, end, nameBytes[index] as Buffer)) return names[index];
    }
    return undefined;
  }

  private integer(): boolean {
    const negative = this.take(0x2d);
    const first = this.at;
    let value = 0;
    for (; this.at < this.end; this.at++) {
      const digit = (this.buffer[this.at] as number) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    const digits = this.at - first;
    if (digits === 0 || digits > DIGITS_MAX || value > INT_MAX) return false;
    if (digits > 1 && this.buffer[first] === 0x30) return false;
    this.number = negative ? 0 - value : value;
    return true;
  }

  private readLanguage(): boolean {
    const at = this.at + 1;
    const end = this.take(QUOTE) ? this.plainString() : -1;
    if (end < 0) return false;
    if (equal(this.buffer, at, end, java)) return true;
    const name = this.buffer.toString('latin1', at, end);
    this.language = Object.hasOwn(LanguageCode, name)
      ? LanguageCode[name as keyof typeof LanguageCode]
      : LanguageCode.OTHER;
    return true;
  }

  private readRemark(): boolean {
    const at = this.at;
    if (!this.take(QUOTE) || this.string() < 0) return false;
    this.remark = JSON.parse(this.buffer.toString('utf8', at, this.at)) as string;
    return true;
  }

  private fields(): boolean {
    this.extStart = this.at;
    if (!this.take(OPEN)) return false;
    if (!this.take(CLOSE)) {
      let count = 0;
      do {
        if (++count > EXT_FIELDS_MAX || !this.take(QUOTE) || this.plainString() < 0) return false;
        if (!this.take(COLON) || !this.take(QUOTE) || this.string() < 0) return false;
      } while (this.take(COMMA));
      if (!this.take(CLOSE)) return false;
    }
    this.extEnd = this.at;
    return true;
  }

  /** Goes behind a string's closing quote and returns where that stands, or -1 for a string that JSON.parse must judge. */
  private string(): number {
    const { buffer, end } = this;
    for (let at = this.at; at < end; at++) {
      const byte = buffer[at] as number;
      if (special[byte] === 0) continue;
      if (byte === QUOTE) {
        this.at = at + 1;
        return at;
      }
      const size = byte === BACKSLASH ? escapeSize(buffer, at) : 0;
      if (size === 0) return -1;
      at += size - 1;
    }
    return -1;
  }

  /** The same, for strings without escapes. */
  private plainString(): number {
    const { buffer, end } = this;
    for (let at = this.at; at < end; at++) {
      const byte = buffer[at] as number;
      if (special[byte] === 0) continue;
      this.at = at + 1;
      return byte === QUOTE ? at : -1;
    }
    return -1;
  }

  private take(byte: number): boolean {
    if (this.at >= this.end || this.buffer[this.at] !== byte) return false;
    this.at++;
    return true;
  }
}

function equal(buffer: Buffer, at: number, end: number, wanted: Buffer): boolean {
  if (end - at !== wanted.length) return false;
  for (let index = 0; index < wanted.length; index++) if (buffer[at + index] !== wanted[index]) return false;
  return true;
}

/** Bytes of the escape at `at`; 0 when it is none. Reading beyond the buffer gives undefined, which is no digit. */
function escapeSize(buffer: Buffer, at: number): 0 | 2 | 6 {
  switch (buffer[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 2;
    case 0x75: // u
      return hexUnit(buffer, at + 2) < 0 ? 0 : 6;
    default:
      return 0;
  }
}

/** Four hex digits as a number; -1 when one is none. */
export function hexUnit(buffer: Buffer, at: number): number {
  let unit = 0;
  for (let index = 0; index < 4; index++) {
    const byte = buffer[at + index] ?? 0;
    const digit = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
    if (digit < 0 || digit > 15 || (byte > 0x39 && digit < 10)) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}
