/** Writes bodies as fastjson 1.2 does: members sorted by name, null ones left out, number and object keys bare. */
import { longText } from '../fields.js';
import { quoted } from '../json-text.js';

/** A Java `double`, which is printed with a fraction or exponent even when it is whole. */
export class JavaDouble {
  constructor(readonly value: number) {}
}

/** Plain objects are beans; a Map is a map of that order; whole numbers are longs. Undefined and null members are left out. */
export type Writable =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | JavaDouble
  | readonly Writable[]
  | ReadonlySet<Writable>
  | WritableMap
  | WritableBean;
export type WritableMap = ReadonlyMap<string | number | WritableBean, Writable>;
export interface WritableBean {
  readonly [name: string]: Writable;
}

/**
 * `fastjson` is what RemotingSerializable#encode writes; `standard` quotes all keys, sorts maps and keeps to ASCII, which 4.9.7
 * does for routes that a peer of 4.9.4 or later asks for.
 */
export type JsonStyle = 'fastjson' | 'standard';

export function writeJson(value: Writable, style: JsonStyle = 'fastjson'): Buffer {
  return Buffer.from(jsonText(value, style));
}

export function jsonText(value: Writable, style: JsonStyle = 'fastjson'): string {
  switch (typeof value) {
    case 'string':
      return style === 'standard' ? quotedAscii(value) : quoted(value);
    case 'number':
    case 'bigint':
      return integer(value, style);
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
    default:
      return composite(value, style);
  }
}

function composite(value: Exclude<Writable, undefined | string | number | bigint | boolean>, style: JsonStyle): string {
  if (value === null) return 'null';
  if (value instanceof JavaDouble) return doubleText(value.value);
  if (value instanceof Map) return map(value as WritableMap, style);
  if (Array.isArray(value) || value instanceof Set) return list(value as Iterable<Writable>, style);
  return bean(value as WritableBean, style);
}

function list(values: Iterable<Writable>, style: JsonStyle): string {
  let text = '';
  for (const value of values) text += `${text === '' ? '' : ','}${jsonText(value, style)}`;
  return `[${text}]`;
}

function bean(value: WritableBean, style: JsonStyle): string {
  let text = '';
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member === undefined || member === null) continue;
    text += `${text === '' ? '' : ','}${quoted(name)}:${jsonText(member, style)}`;
  }
  return `{${text}}`;
}

function map(value: WritableMap, style: JsonStyle): string {
  let text = '';
  for (const [key, member] of style === 'standard' ? sortedByKey(value) : value) {
    if (member === undefined || member === null) continue;
    text += `${text === '' ? '' : ','}${keyText(key, style)}:${jsonText(member, style)}`;
  }
  return `{${text}}`;
}

function keyText(key: string | number | WritableBean, style: JsonStyle): string {
  const text = jsonText(key, style);
  return typeof key === 'number' && style === 'standard' ? `"${text}"` : text;
}

function sortedByKey(value: WritableMap): [string | number | WritableBean, Writable][] {
  return [...value].sort(([a], [b]) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1,
  );
}

/** `standard` keeps numbers that JavaScript would round in quotes. */
function integer(value: number | bigint, style: JsonStyle): string {
  const text = typeof value === 'bigint' ? String(value) : longText(value);
  return style === 'standard' && !Number.isSafeInteger(Number(value)) ? `"${text}"` : text;
}

function quotedAscii(text: string): string {
  return quoted(text)
    .replaceAll('/', '\\/')
    .replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`);
}

/** As Double.toString: fixed notation from 10^-3 up to 10^7, else a digit, a fraction and an exponent. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const size = Math.abs(value);
  if (size === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (size >= 1e-3 && size < 1e7) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}
