import { SysFlag } from '../../protocol/codes.js';
import { copyBytes, viewOf } from '../../protocol/copy.js';
import { timerField, type TimerWish } from '../../protocol/message/timer.js';

const NAME_END = 1;
const PROPERTY_END = 2;
const WAIT = Buffer.from('WAIT');
const DELAY = Buffer.from('DELAY');
const TRAN_MSG = Buffer.from('TRAN_MSG');
const CLUSTER = Buffer.from('CLUSTER');
/** The shortest name of a timer property, and how all of them begin. */
const TIMER_NAME_MIN = 12;
const TIMER = Buffer.from('TIMER_');
const NOTHING = viewOf(Buffer.alloc(0));

/**
 * One walk over a message's properties `name 1 value 2 name 1 value`: what they ask of the broker, and which of them are stored.
 * WAIT is not stored, CLUSTER is the broker's to say, and what 4.9 cannot read it drops (4.9: MessageDecoder#string2messageProperties,
 * SendMessageProcessor#asyncSendMessage). 4.9 stores them in the order of a hash map, this broker in the order in which they came.
 */
export class PropertyScan {
  /** The message waits for flush and slave, which is the default. */
  waitStore = true;
  /** The delay level; 0 without one, NaN when it cannot be read. A level that is not 0 is not among what is kept: see `put`. */
  delayLevel = 0;
  transaction = false;
  /** What it says of a delivery time of its own. */
  timer: TimerWish | undefined;
  /** Bytes of what is stored, separators between the properties included. */
  keptBytes = 0;
  readonly #clusterEntry: DataView;
  #ranges = new Int32Array(32);
  #count = 0;
  /** What was put, each property with a separator behind it. */
  #put = NOTHING;
  /** Names that are left out, where those alone are. */
  #left: readonly Buffer[] | undefined;

  constructor(cluster: string) {
    this.#clusterEntry = viewOf(Buffer.from(`CLUSTER\u0001${cluster}`));
  }

  /** Bytes that `write` writes. */
  get storedBytes(): number {
    return this.keptBytes + (this.keptBytes > 0 ? 1 : 0) + this.#put.byteLength + this.#clusterEntry.byteLength;
  }

  /** The message does not simply go into the queue that it names. */
  isSpecial(sysFlag: number): boolean {
    return (
      this.delayLevel !== 0 ||
      this.transaction ||
      this.timer !== undefined ||
      (sysFlag & SysFlag.TRANSACTION_ROLLBACK) !== 0
    );
  }

  scan(bytes: Uint8Array, start: number, end: number): void {
    this.waitStore = true;
    this.delayLevel = 0;
    this.transaction = false;
    this.timer = undefined;
    this.#put = NOTHING;
    this.#left = undefined;
    this.#walk(bytes, start, end);
  }

  /**
   * After `scan`: of a message that becomes another one everything is stored but these and CLUSTER, WAIT and DELAY, too (4.9 makes
   * the text of its properties anew). What they ask of the broker stays as it was found.
   */
  keepAllBut(names: readonly Buffer[], bytes: Uint8Array, start: number, end: number): void {
    this.#left = names;
    this.#walk(bytes, start, end);
  }

  #walk(bytes: Uint8Array, start: number, end: number): void {
    this.keptBytes = 0;
    this.#count = 0;
    for (let at = start; at < end;) {
      let middle = -1;
      let to = at;
      for (; to < end; to++) {
        const byte = bytes[to];
        if (byte === PROPERTY_END) break;
        if (byte === NAME_END && middle < 0) middle = to;
      }
      if (middle > at && middle < to - 1 && this.#isKept(bytes, at, middle, to)) this.#keep(at, to);
      at = to + 1;
    }
  }

  /** Stores these, too: what the broker notes in the message. */
  put(properties: Readonly<Record<string, string>>): void {
    this.#put = encodedNotes(properties);
  }

  /** The same, encoded already. */
  putEncoded(notes: DataView): void {
    this.#put = notes;
  }

  /** Writes the stored properties with the broker's CLUSTER behind them; returns the position after them. */
  write(source: DataView, target: DataView, at: number): number {
    let to = at;
    for (let i = 0; i < this.#count; i++) {
      if (i > 0) target.setUint8(to++, PROPERTY_END);
      to += copyBytes(source, this.#ranges[i * 2], this.#ranges[i * 2 + 1], target, to);
    }
    if (this.#count > 0) target.setUint8(to++, PROPERTY_END);
    to += copyBytes(this.#put, 0, this.#put.byteLength, target, to);
    return to + copyBytes(this.#clusterEntry, 0, this.#clusterEntry.byteLength, target, to);
  }

  /** Neighbours that stay together are one range, so that as a rule all properties are one copy. */
  #keep(at: number, to: number): void {
    const last = this.#count * 2 - 1;
    if (this.#count > 0 && this.#ranges[last] + 1 === at) {
      this.keptBytes += to - at + 1;
      this.#ranges[last] = to;
      return;
    }
    if (this.#count * 2 === this.#ranges.length) {
      const wider = new Int32Array(this.#ranges.length * 2);
      wider.set(this.#ranges);
      this.#ranges = wider;
    }
    this.#ranges[this.#count * 2] = at;
    this.#ranges[this.#count * 2 + 1] = to;
    this.keptBytes += to - at + (this.#count > 0 ? 1 : 0);
    this.#count++;
  }

  #isKept(bytes: Uint8Array, at: number, middle: number, to: number): boolean {
    if (this.#left !== undefined) return !this.#isLeft(this.#left, bytes, at, middle - at);
    switch (middle - at) {
      case 4:
        if (!named(bytes, at, WAIT)) return true;
        this.waitStore = isTrue(bytes, middle + 1, to);
        return false;
      case 5:
        if (!named(bytes, at, DELAY)) return true;
        this.delayLevel = parseLevel(bytes, middle + 1, to);
        return this.delayLevel === 0;
      case 7:
        return !named(bytes, at, CLUSTER);
      case 8:
        if (named(bytes, at, TRAN_MSG)) this.transaction = isTrue(bytes, middle + 1, to);
        return true;
      default:
        if (middle - at >= TIMER_NAME_MIN && named(bytes, at, TIMER)) this.#timerProperty(bytes, at, middle, to);
        return true;
    }
  }

  #timerProperty(bytes: Uint8Array, at: number, middle: number, to: number): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, to - at).toString('latin1');
    const field = timerField(text.slice(0, middle - at));
    if (field !== undefined) this.timer = { ...this.timer, [field]: text.slice(middle - at + 1) };
  }

  #isLeft(left: readonly Buffer[], bytes: Uint8Array, at: number, length: number): boolean {
    for (const name of left) if (name.length === length && named(bytes, at, name)) return true;
    return length === CLUSTER.length && named(bytes, at, CLUSTER);
  }
}

/** Each property with a separator behind it. */
export function encodedNotes(properties: Readonly<Record<string, string>>): DataView {
  let text = '';
  for (const [name, value] of Object.entries(properties)) text += `${name}\u0001${value}\u0002`;
  return viewOf(Buffer.from(text));
}

function named(bytes: Uint8Array, at: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

/** 4.9: Boolean#parseBoolean. */
function isTrue(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 4) return false;
  const lower = (i: number): number => bytes[start + i] | 0x20;
  return lower(0) === 0x74 && lower(1) === 0x72 && lower(2) === 0x75 && lower(3) === 0x65;
}

/** 4.9: Integer#parseInt; below 0 is no delay either. */
function parseLevel(bytes: Uint8Array, start: number, end: number): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
  const level = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : NaN;
  return level < 0 ? 0 : level;
}
