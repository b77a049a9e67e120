import { hexUnit } from './json-header.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Unescapes the strings of a scanned JSON header into bytes. Reused by its owner; strings must have been checked by the scan. */
export class JsonStrings {
  /** Position behind the closing quote of the string read last. */
  at = 0;
  /** Position behind what was written last. */
  end = 0;

  /** Writes the string that begins (behind its quote) at `from` into `target` at `to`, which must have as much room. */
  copy(source: Buffer, from: number, target: Buffer, to: number): void {
    let at = from;
    let end = to;
    for (;;) {
      const byte = source[at++] as number;
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) {
        target[end++] = byte;
        continue;
      }
      const letter = source[at++] as number;
      if (letter !== 0x75) {
        target[end++] = plainEscape(letter);
        continue;
      }
      const unit = hexUnit(source, at);
      at += 4;
      if (unit < 0x80) {
        target[end++] = unit;
        continue;
      }
      const low =
        isHighSurrogate(unit) && source[at] === BACKSLASH && source[at + 1] === 0x75 ? hexUnit(source, at + 2) : -1;
      if (low >= 0xdc00 && low <= 0xdfff) {
        at += 6;
        end = writeUtf8(target, end, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      } else end = writeUtf8(target, end, unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit);
    }
    this.at = at;
    this.end = end;
  }
}

/** Position behind the closing quote of the checked string that begins at `at`. */
export function skipString(source: Buffer, at: number): number {
  for (;;) {
    const byte = source[at++] as number;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function plainEscape(letter: number): number {
  switch (letter) {
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return letter;
  }
}

function writeUtf8(target: Buffer, at: number, point: number): number {
  if (point < 0x800) target[at++] = 0xc0 | (point >> 6);
  else {
    if (point < 0x10000) target[at++] = 0xe0 | (point >> 12);
    else {
      target[at++] = 0xf0 | (point >> 18);
      target[at++] = 0x80 | ((point >> 12) & 0x3f);
    }
    target[at++] = 0x80 | ((point >> 6) & 0x3f);
  }
  target[at++] = 0x80 | (point & 0x3f);
  return at;
}
