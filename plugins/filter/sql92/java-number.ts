import { javaTrim } from '../java-trim.js';

/**
 * Java's way from a property's text to a number, and its order of numbers. All properties are texts, so these rules decide
 * whether `a > 5` matches "05", "5.0" or "3000000000" (4.9: ComparisonExpression#__compare).
 */

/** A text that Java would not take for a number of the wanted type: the message is not delivered. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

/** Thrown once per message at worst, so it carries no stack of its own. */
const notANumber = new EvaluationError('a property is not a number of the type it is compared with');

const longMax = 2n ** 63n - 1n;
const longMin = -(2n ** 63n);

/** Integer.valueOf(String). */
export function parseJavaInt(text: string): number {
  const value = parseJavaLong(text);
  if (value > 2147483647 || value < -2147483648) throw notANumber;
  return Number(value);
}

/** Long.valueOf(String): a number while that is exact, a bigint beyond. */
export function parseJavaLong(text: string): number | bigint {
  const signed = text.startsWith('-') || text.startsWith('+');
  const first = signed ? 1 : 0;
  if (text.length === first) throw notANumber;
  let value = 0;
  for (let at = first; at < text.length; at++) {
    value = value * 10 + digitAt(text, at);
    if (value > Number.MAX_SAFE_INTEGER) return parseWide(text, first);
  }
  return text.startsWith('-') ? 0 - value : value;
}

function parseWide(text: string, first: number): bigint {
  let value = 0n;
  for (let at = first; at < text.length && value <= longMax; at++) value = value * 10n + BigInt(digitAt(text, at));
  if (text.startsWith('-')) value = -value;
  if (value > longMax || value < longMin) throw notANumber;
  return value;
}

/** Character.digit(char, 10), which knows the decimal digits of all scripts. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code < 0x80 || !isDigit(code)) throw notANumber;
  // Unicode's runs of ten digits start at a code ending in 0 or in 6.
  return isDigit(code & ~0xf) ? code & 0xf : (code & 0xf) - 6;
}

function isDigit(code: number): boolean {
  return /^\p{Nd}$/u.test(String.fromCharCode(code));
}

const decimalForm = /^[+-]?(?:NaN|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)$/;
const hexForm = /^([+-]?)0[xX](?:([\da-fA-F]+)\.?|([\da-fA-F]*)\.([\da-fA-F]+))[pP]([+-]?\d+)[fFdD]?$/;

/** Double.valueOf(String): blanks around it, a type suffix, NaN, Infinity and hexadecimal floats are all fine. */
export function parseJavaDouble(text: string): number {
  if (isPlain(text)) return Number(text);
  const trimmed = javaTrim(text);
  if (decimalForm.test(trimmed)) return Number(trimmed.endsWith('y') ? trimmed : trimmed.replace(/[fFdD]$/, ''));
  const hex = hexForm.exec(trimmed);
  if (hex === null) throw notANumber;
  const [, sign, whole = '', before = '', fraction = '', exponent = ''] = hex;
  const value = scaled(BigInt(`0x${whole}${before}${fraction}`), Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}

/** Digits with at most one point among or around them: what nearly all numbers are, and JavaScript reads as Java does. */
function isPlain(text: string): boolean {
  let digits = 0;
  let points = 0;
  for (let at = text.startsWith('-') ? 1 : 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) digits++;
    else if (code !== 0x2e || ++points > 1) return false;
  }
  return digits > 0;
}

/** `mantissa` × 2^`exponent`, rounded once, half to even. */
function scaled(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  const top = exponent + mantissa.toString(2).length - 1;
  if (top > 1023) return Infinity;
  if (top < -1075) return 0;
  const unit = Math.max(top - 52, -1074);
  if (unit <= exponent) return Number(mantissa << BigInt(exponent - unit)) * 2 ** unit;
  const dropped = BigInt(unit - exponent);
  const kept = mantissa >> dropped;
  const rest = mantissa - (kept << dropped);
  const half = 1n << (dropped - 1n);
  const roundUp = rest > half || (rest === half && (kept & 1n) === 1n);
  return Number(roundUp ? kept + 1n : kept) * 2 ** unit;
}

/** Long.compareTo; JavaScript compares a number with a bigint exactly. */
export function compareLongs(left: number | bigint, right: number | bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Double.compareTo: NaN equals itself and is above everything, -0.0 is below 0.0. */
export function compareDoubles(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (Object.is(left, right)) return 0;
  return Number.isNaN(right) || Object.is(left, -0) ? -1 : 1;
}
