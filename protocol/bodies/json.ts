/**
 * Bodies are written by fastjson, whose output is not always standard JSON: map keys that are numbers or objects stand there
 * bare (`{0:"a"}`, `{{"queueId":0}:1}`). This reader takes both forms and single quotes; integers beyond 2^53 keep all digits.
 */
import { ProtocolError } from '../errors.js';

export type JsonObject = { [name: string]: JsonValue };
/** Objects have no prototype. A key that was itself an object or array is kept as its source text; read it with `readJson`. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

export interface JsonLimits {
  readonly bytesMax?: number;
  readonly depthMax?: number;
  readonly membersMax?: number;
}

/** As large as a frame can be. */
const BYTES_MAX = 16 * 1024 * 1024;
const DEPTH_MAX = 64;
/** Members and elements of the whole text: bounds memory, which text of few bytes per member multiplies. */
const MEMBERS_MAX = 2_000_000;

/** Throws ProtocolError, with the position, for text that is no JSON in either form or passes a limit. */
export function readJson(text: string | Uint8Array, limits: JsonLimits = {}): JsonValue {
  const bytesMax = limits.bytesMax ?? BYTES_MAX;
  if (text.length > bytesMax) throw new ProtocolError(`JSON of ${text.length} bytes is longer than ${bytesMax}`);
  const source =
    typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
  return new Reader(source, limits.depthMax ?? DEPTH_MAX, limits.membersMax ?? MEMBERS_MAX).whole();
}

const enum Character {
  quote = 0x22,
  apostrophe = 0x27,
  comma = 0x2c,
  colon = 0x3a,
  openBracket = 0x5b,
  backslash = 0x5c,
  closeBracket = 0x5d,
  openBrace = 0x7b,
  closeBrace = 0x7d,
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\u000b',
  '0': '\0',
};

const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /[A-Za-z_$][\w$]*/y;
const bareKey = /[^\s:,{}[\]"']+/y;
const plainUntilDouble = /[^"\\]*/y;
const plainUntilSingle = /[^'\\]*/y;

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly depthMax: number,
    private membersLeft: number,
  ) {}

  whole(): JsonValue {
    // Some writers begin with a byte order mark.
    if (this.text.charCodeAt(0) === 0xfeff) this.at = 1;
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail('something follows the value');
    return value;
  }

  private value(depth: number): JsonValue {
    this.space();
    switch (this.text.charCodeAt(this.at)) {
      case Character.openBrace:
        return this.object(depth);
      case Character.openBracket:
        return this.array(depth);
      case Character.quote:
      case Character.apostrophe:
        return this.string();
      default:
        return this.scalar();
    }
  }

  private object(depth: number): JsonObject {
    if (depth >= this.depthMax) this.fail(`nested deeper than ${this.depthMax}`);
    const object = Object.create(null) as JsonObject;
    this.at++;
    for (;;) {
      this.space();
      if (this.take(Character.closeBrace)) return object;
      const name = this.key(depth);
      this.space();
      if (!this.take(Character.colon)) this.fail('a colon is missing');
      this.countMember();
      object[name] = this.value(depth + 1);
      this.space();
      if (this.take(Character.comma)) continue;
      if (!this.take(Character.closeBrace)) this.fail('an object is not closed');
      return object;
    }
  }

  private array(depth: number): JsonValue[] {
    if (depth >= this.depthMax) this.fail(`nested deeper than ${this.depthMax}`);
    const array: JsonValue[] = [];
    this.at++;
    for (;;) {
      this.space();
      if (this.take(Character.closeBracket)) return array;
      this.countMember();
      array.push(this.value(depth + 1));
      this.space();
      if (this.take(Character.comma)) continue;
      if (!this.take(Character.closeBracket)) this.fail('an array is not closed');
      return array;
    }
  }

  private key(depth: number): string {
    const start = this.at;
    switch (this.text.charCodeAt(this.at)) {
      case Character.quote:
      case Character.apostrophe:
        return this.string();
      case Character.openBrace:
      case Character.openBracket:
        this.value(depth + 1);
        return this.text.slice(start, this.at);
      default:
        return this.match(bareKey) ?? this.fail('a key is missing');
    }
  }

  private string(): string {
    const quote = this.text.charCodeAt(this.at++);
    const plain = quote === Character.quote ? plainUntilDouble : plainUntilSingle;
    let text = this.match(plain) ?? '';
    while (this.text.charCodeAt(this.at) === Character.backslash) {
      text += this.escape();
      text += this.match(plain) ?? '';
    }
    if (!this.take(quote)) this.fail('a string is not closed');
    return text;
  }

  private escape(): string {
    const letter = this.text.charAt(this.at + 1);
    if (letter === 'u' || letter === 'x') {
      const digits = letter === 'u' ? 4 : 2;
      const hex = this.text.slice(this.at + 2, this.at + 2 + digits);
      if (hex.length < digits || !/^[0-9a-fA-F]+$/.test(hex)) this.fail('a bad escape');
      this.at += 2 + digits;
      return String.fromCharCode(parseInt(hex, 16));
    }
    const character = escapes[letter];
    if (character === undefined) this.fail('a bad escape');
    this.at += 2;
    return character;
  }

  private scalar(): JsonValue {
    const digits = this.match(number);
    if (digits !== undefined) return numeric(digits);
    switch (this.match(word)) {
      case 'true':
        return true;
      case 'false':
        return false;
      case 'null':
        return null;
      default:
        return this.fail('not a value');
    }
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found[0];
  }

  private space(): void {
    for (;;) {
      const character = this.text.charCodeAt(this.at);
      // Past the end it is NaN, which no comparison is true for.
      if (!(character === 0x20 || (character >= 0x09 && character <= 0x0d))) return;
      this.at++;
    }
  }

  private take(character: number): boolean {
    if (this.text.charCodeAt(this.at) !== character) return false;
    this.at++;
    return true;
  }

  private countMember(): void {
    if (--this.membersLeft < 0) this.fail('too many members');
  }

  private fail(problem: string): never {
    throw new ProtocolError(`bad JSON at position ${this.at}: ${problem}`);
  }
}

function numeric(digits: string): number | bigint {
  const value = Number(digits);
  if (Number.isSafeInteger(value) || /[.eE]/.test(digits)) return value;
  return BigInt(digits);
}
