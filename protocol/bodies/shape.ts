/** Takes typed values out of what `readJson` returned. A value of the wrong kind is a ProtocolError that names the member. */
import { ProtocolError } from '../errors.js';
import { readJson, type JsonObject, type JsonValue } from './json.js';

export function asObject(value: JsonValue | undefined, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what, 'an object');
  return value;
}

/** The body's outermost object. */
export function bodyObject(body: string | Uint8Array, what: string): JsonObject {
  return asObject(readJson(body), what);
}

/** Missing and null give `fallback`, or an error when there is none. Numbers and booleans become text, as fastjson casts them. */
export function text(object: JsonObject, name: string, fallback?: string): string {
  const value = object[name];
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return missing(value, name, fallback, 'a string');
}

export function optionalText(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return value === undefined || value === null ? undefined : text(object, name);
}

/** A whole number; those above 2^53 are rounded. Digits in quotes count, as with fastjson. */
export function whole(object: JsonObject, name: string, fallback?: number): number {
  return wholeOf(object[name], name, fallback);
}

export function wholeOf(value: JsonValue | undefined, what: string, fallback?: number): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return Number(value);
  return missing(value, what, fallback, 'an integer');
}

export function real(object: JsonObject, name: string, fallback?: number): number {
  const value = object[name];
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  return missing(value, name, fallback, 'a number');
}

export function truth(object: JsonObject, name: string, fallback?: boolean): boolean {
  const value = object[name];
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return missing(value, name, fallback, 'true or false');
}

/** One of the names of a Java enum. */
export function oneOf<const T extends string>(object: JsonObject, name: string, names: readonly T[], fallback?: T): T {
  const value = object[name];
  if (typeof value === 'string' && (names as readonly string[]).includes(value)) return value as T;
  return missing(value, name, fallback, `one of ${names.join(', ')}`);
}

/** Missing and null give an empty list. */
export function list<T>(object: JsonObject, name: string, read: (value: JsonValue, what: string) => T): T[] {
  const value = object[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(name, 'an array');
  return value.map((element) => read(element, name));
}

/** Missing and null give an empty map. Null members are left out. */
export function table<K, V>(
  object: JsonObject,
  name: string,
  readKey: (key: string, what: string) => K,
  readValue: (value: JsonValue, what: string) => V,
): Map<K, V> {
  const value = object[name];
  if (value === undefined || value === null) return new Map<K, V>();
  return tableOf(value, name, readKey, readValue);
}

export function tableOf<K, V>(
  value: JsonValue,
  what: string,
  readKey: (key: string, what: string) => K,
  readValue: (value: JsonValue, what: string) => V,
): Map<K, V> {
  const result = new Map<K, V>();
  const members = asObject(value, what);
  for (const key in members) {
    const member = members[key] as JsonValue;
    if (member !== null) result.set(readKey(key, what), readValue(member, `${what}.${key}`));
  }
  return result;
}

export const textKey = (key: string): string => key;

export function wholeKey(key: string, what: string): number {
  return wholeOf(key, `key of ${what}`);
}

export function textValue(value: JsonValue, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  throw wrong(what, 'a string');
}

export function wholeValue(value: JsonValue, what: string): number {
  return wholeOf(value, what);
}

function missing<T>(value: JsonValue | undefined, what: string, fallback: T | undefined, kind: string): T {
  if ((value === undefined || value === null) && fallback !== undefined) return fallback;
  throw wrong(what, kind);
}

function wrong(what: string, kind: string): ProtocolError {
  return new ProtocolError(`body: ${what} is not ${kind}`);
}
