import type { ExtFields } from './header-form.js';

/** A header field that is missing or unreadable; answered SYSTEM_ERROR (1) naming the field. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
  constructor(
    readonly field: string,
    readonly problem: string,
  ) {
    super(`header field ${field} ${problem}`);
  }
}

const INT_MIN = -2147483648;
const INT_MAX = 2147483647;
const LONG_MAX_TEXT = '9223372036854775807';
const LONG_MIN_TEXT = '-9223372036854775808';
const LONG_LIMIT = 2 ** 63;
/** Long enough for any 64-bit number with its sign and some leading zeros. */
const DIGITS_MAX = 40;

/** Shortens a value from outside before it goes into an error text. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** 4.9 parses by Integer.parseInt: a sign and decimal digits, nothing else, within 32 bits. */
export function parseInt32(text: string, field: string): number {
  const value = parseDigits(text);
  if (value === undefined || value < INT_MIN || value > INT_MAX) {
    throw new FieldError(field, `is not a 32-bit integer: ${shown(text)}`);
  }
  return value;
}

/** As Long.parseLong; beyond 2^53 the number is rounded. */
export function parseInt64(text: string, field: string): number {
  const value = parseDigits(text);
  if (value === undefined || (Math.abs(value) >= LONG_LIMIT && !fitsLong(text))) {
    throw new FieldError(field, `is not a 64-bit integer: ${shown(text)}`);
  }
  return value;
}

/** As Boolean.parseBoolean: `true` in any case is true, all else is false. */
export function parseBoolean(text: string): boolean {
  return text === 'true' || (text.length === 4 && text.toLowerCase() === 'true');
}

function parseDigits(text: string): number | undefined {
  const length = text.length;
  const first = text.charCodeAt(0);
  let at = first === 0x2d || first === 0x2b ? 1 : 0;
  if (at === length || length > DIGITS_MAX) return undefined;
  let value = 0;
  for (; at < length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  // The running product is exact below 2^53; above it Number() rounds once and thus best.
  if (value > Number.MAX_SAFE_INTEGER) return Number(text);
  return first === 0x2d ? 0 - value : value;
}

function fitsLong(text: string): boolean {
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value <= BigInt(LONG_MAX_TEXT) && value >= BigInt(LONG_MIN_TEXT);
}

/** A long as Java prints it. Numbers that rounding pushed out of 64 bits (Long.MAX_VALUE as a number) are clamped back. */
export function longText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  if (value >= LONG_LIMIT) return LONG_MAX_TEXT;
  if (value <= -LONG_LIMIT) return LONG_MIN_TEXT;
  return BigInt(Math.trunc(value)).toString();
}

export function requireString(ext: ExtFields, name: string): string {
  const text = ext[name];
  if (text === undefined) throw new FieldError(name, 'is missing');
  return text;
}

export function optionalString(ext: ExtFields, name: string): string | undefined {
  return ext[name];
}

export function requireInt(ext: ExtFields, name: string): number {
  return parseInt32(requireString(ext, name), name);
}

export function optionalInt(ext: ExtFields, name: string): number | undefined {
  const text = ext[name];
  return text === undefined ? undefined : parseInt32(text, name);
}

/** Rounded above 2^53. */
export function requireLong(ext: ExtFields, name: string): number {
  return parseInt64(requireString(ext, name), name);
}

/** Rounded above 2^53. */
export function optionalLong(ext: ExtFields, name: string): number | undefined {
  const text = ext[name];
  return text === undefined ? undefined : parseInt64(text, name);
}

export function requireBoolean(ext: ExtFields, name: string): boolean {
  return parseBoolean(requireString(ext, name));
}

export function optionalBoolean(ext: ExtFields, name: string): boolean | undefined {
  const text = ext[name];
  return text === undefined ? undefined : parseBoolean(text);
}
