/**
 * Declares a header once and gives a typed decoder and encoder for it. Field kinds mirror the Java types of 4.9: a boxed field
 * that may be null is optional here, a primitive one is always there and falls back to its default when the wire omits it.
 */
import { Serialize, type ExtFields } from '../command.js';
import { FieldError, longText, parseBoolean, parseInt32, parseInt64 } from '../fields.js';
import { hashMapOrder, reflectedOrder } from './java-order.js';

export interface Field<T> {
  /** `text` is undefined when the wire does not hold the field. */
  read(text: string | undefined, name: string): T;
  write(value: Exclude<T, undefined>): string;
}

type Shape = Readonly<Record<string, Field<unknown>>>;
type ValueOf<F> = F extends Field<infer T> ? T : never;
type OptionalNames<S> = { [K in keyof S]: undefined extends ValueOf<S[K]> ? K : never }[keyof S];
type Flat<T> = { [K in keyof T]: T[K] };

/** The values of a header of this shape. */
export type HeaderValues<S> = Flat<
  { readonly [K in Exclude<keyof S, OptionalNames<S>>]: ValueOf<S[K]> } & {
    readonly [K in OptionalNames<S>]?: ValueOf<S[K]>;
  }
>;

export interface Header<S> {
  /** Throws FieldError for a field that is missing or unreadable. */
  readonly decode: (ext: ExtFields) => HeaderValues<S>;
  /** Fields in the original's order, which for some headers depends on the form they are written in (default JSON). */
  readonly encode: (values: HeaderValues<S>, serialize?: Serialize) => ExtFields;
  /** Names as declared. */
  readonly names: readonly string[];
}

export type HeaderOf<H> = H extends Header<infer S> ? HeaderValues<S> : never;

function required<T>(parse: (text: string, name: string) => T, write: (value: T) => string): Field<T> {
  return {
    read(text, name) {
      if (text === undefined) throw new FieldError(name, 'is missing');
      return parse(text, name);
    },
    write,
  };
}

function optional<T>(parse: (text: string, name: string) => T, write: (value: T) => string): Field<T | undefined> {
  return { read: (text, name) => (text === undefined ? undefined : parse(text, name)), write } as Field<T | undefined>;
}

function primitive<T>(missing: T, parse: (text: string, name: string) => T, write: (value: T) => string): Field<T> {
  return { read: (text, name) => (text === undefined ? missing : parse(text, name)), write } as Field<T>;
}

const asIs = (text: string): string => text;
const decimal = (value: number): string => String(value);
const word = (value: boolean): string => (value ? 'true' : 'false');

export const string = required(asIs, asIs);
export const optionalString = optional(asIs, asIs);
export const int = required(parseInt32, decimal);
export const optionalInt = optional(parseInt32, decimal);
export const primitiveInt = primitive(0, parseInt32, decimal);
/** Rounded above 2^53. */
export const long = required(parseInt64, longText);
export const optionalLong = optional(parseInt64, longText);
export const primitiveLong = primitive(0, parseInt64, longText);
export const boolean = required(parseBoolean, word);
export const optionalBoolean = optional(parseBoolean, word);
export const primitiveBoolean = primitive(false, parseBoolean, word);

/** For one-letter fields: errors name the field as people know it, with the letter that stands on the wire. */
export function named<T>(known: string, field: Field<T>): Field<T> {
  return { read: (text, name) => field.read(text, `${known} (${name})`), write: (value) => field.write(value) };
}

interface Options {
  /** 4.9: FastCodesHeader. In the binary form the fields then stand as declared, with what was added behind them. */
  readonly fast?: boolean;
  /** Fields that 4.9 adds to the command by hand, before those of the header class. */
  readonly added?: readonly string[];
}

const RPC_CLASS = 'rpc.RpcRequestHeader';

/** `javaClass` is the class below `org.apache.rocketmq.common.protocol.header.`; fields in the order of its declarations. */
export function header<const S extends Shape>(javaClass: string, shape: S, options: Options = {}): Header<S> {
  const declaredIn = `protocol.header.${javaClass}`;
  const added = options.added ?? [];
  const own = Object.keys(shape).filter((name) => !added.includes(name));
  const fields = own.map((name) => ({ name, declaredIn: name === 'bname' ? RPC_CLASS : declaredIn }));
  const put = [...added, ...reflectedOrder(fields)];
  const orders = [hashMapOrder(put, 12), hashMapOrder(put, 24)] as const;
  const fast = options.fast === true ? [...own, ...hashMapOrder(added)] : undefined;
  return { names: Object.keys(shape), decode: decoder<S>(shape), encode: encoder<S>(shape, orders, fast) };
}

/** A header whose Java class extends RpcRequestHeader: it may also name the broker it is meant for. */
export function rpcHeader<const S extends Shape>(
  javaClass: string,
  shape: S,
  options: Options = {},
): Header<S & { readonly bname: typeof optionalString }> {
  return header(javaClass, { ...shape, bname: optionalString }, options);
}

function decoder<S extends Shape>(shape: Shape): Header<S>['decode'] {
  const fields = Object.entries(shape);
  return (ext) => {
    const values: Record<string, unknown> = {};
    for (const [name, field] of fields) {
      const value = field.read(ext[name], name);
      if (value !== undefined) values[name] = value;
    }
    return values as HeaderValues<S>;
  };
}

function encoder<S extends Shape>(
  shape: Shape,
  orders: readonly [upTo12: readonly string[], upTo24: readonly string[]],
  fast: readonly string[] | undefined,
): Header<S>['encode'] {
  return (given, serialize) => {
    const values = given as Readonly<Record<string, unknown>>;
    const ext: Record<string, string> = {};
    for (const name of serialize === Serialize.ROCKETMQ && fast !== undefined ? fast : hashed(orders, values)) {
      const value = values[name];
      if (value !== undefined && value !== null) ext[name] = (shape[name] as Field<unknown>).write(value as never);
    }
    return ext;
  };
}

/** The map's size, and with it its order, depends on how many fields are there. */
function hashed(
  orders: readonly [readonly string[], readonly string[]],
  values: Readonly<Record<string, unknown>>,
): readonly string[] {
  const names = orders[0];
  if (names.length <= 12) return names;
  let present = 0;
  for (const name of names) if (values[name] !== undefined && values[name] !== null) present++;
  return present <= 12 ? names : orders[1];
}
