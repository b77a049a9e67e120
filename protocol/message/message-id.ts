/** The two message ids of 4.9: the broker's, which says where a record lies, and the client's, which says which message it is. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/base/clock.js';
import { ProtocolError } from '../errors.js';
import { readInt64, writeInt64 } from '../int64.js';
import { addressText } from './host.js';

const idBytesV4 = Buffer.alloc(16);
const idBytesV6 = Buffer.alloc(28);

/**
 * Offset message id: address (4 or 16 bytes), port (4), physical offset (8) in upper-case hex: 32 or 56 digits.
 * 4.9: MessageDecoder#createMessageId.
 */
export function createOffsetMessageId(address: Uint8Array, port: number, physicalOffset: number): string {
  const bytes = address.length === 4 ? idBytesV4 : idBytesV6;
  bytes.set(address);
  bytes.writeInt32BE(port, address.length);
  writeInt64(bytes, physicalOffset, address.length + 4);
  return bytes.toString('hex').toUpperCase();
}

export interface OffsetMessageId {
  /** 4 or 16 bytes. */
  readonly address: Buffer;
  readonly host: string;
  readonly port: number;
  readonly physicalOffset: number;
}

/** Throws ProtocolError for text that is no offset message id. */
export function decodeOffsetMessageId(id: string): OffsetMessageId {
  if (!/^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{56})$/.test(id)) {
    throw new ProtocolError(`not an offset message id of 32 or 56 hex digits: ${JSON.stringify(id.slice(0, 60))}`);
  }
  const bytes = Buffer.from(id, 'hex');
  const address = bytes.subarray(0, bytes.length - 12);
  return {
    address,
    host: addressText(address),
    port: bytes.readInt32BE(address.length),
    physicalOffset: readInt64(bytes, address.length + 4),
  };
}

/** What a generator needs from its surroundings. */
export interface UniqueIdSource {
  readonly clock: Clock;
  /** 4 or 16 bytes of this machine's address. */
  readonly address: Uint8Array;
  readonly pid: number;
  /** Default: bytes from the system. */
  readonly random?: (bytes: number) => Uint8Array;
}

const COUNTERS = 65536;

/**
 * Unique client message ids (property UNIQ_KEY) in the layout of 4.9: MessageClientIDSetter, whose tools read address, pid and
 * time back from them:
 *
 *   4 or 16  address    2  pid, low bits    4  random here (the class loader's hash there)    4  ms since the month began    2  counter
 *
 * Random bytes per generator keep worker threads and containers with equal address and pid apart (B39). Time and counter form
 * one number that only grows, so that neither a clock that steps back nor more than 65,536 ids in a millisecond repeats one.
 */
export class UniqueIdGenerator {
  private prefix = '';
  private monthStart = 0;
  private nextMonth = 0;
  private lastTick = -1;
  private counter = 0;
  private leftInTick = 0;

  constructor(private readonly source: UniqueIdSource) {
    if (source.address.length !== 4 && source.address.length !== 16) {
      throw new RangeError(`address of ${source.address.length} bytes, not 4 or 16`);
    }
    this.beginMonth(source.clock.wallMs());
  }

  next(): string {
    const now = this.source.clock.wallMs();
    if (now >= this.nextMonth) this.beginMonth(now);
    const elapsed = Math.floor(now - this.monthStart);
    if (elapsed > this.lastTick) {
      this.lastTick = elapsed;
      this.leftInTick = COUNTERS;
    } else if (this.leftInTick === 0) {
      this.lastTick++;
      this.leftInTick = COUNTERS;
    }
    this.leftInTick--;
    const counter = this.counter;
    this.counter = (counter + 1) % COUNTERS;
    return this.prefix + hex(this.lastTick, 8) + hex(counter, 4);
  }

  /** New random bytes with each month, since its time starts over at zero. */
  private beginMonth(now: number): void {
    const { address, pid, random } = this.source;
    const date = new Date(now);
    this.monthStart = new Date(date.getFullYear(), date.getMonth(), 1).getTime();
    this.nextMonth = new Date(date.getFullYear(), date.getMonth() + 1, 1).getTime();
    this.lastTick = -1;
    this.leftInTick = 0;
    const bytes = Buffer.concat([address, Buffer.from([(pid >> 8) & 0xff, pid & 0xff]), (random ?? randomBytes)(4)]);
    this.prefix = bytes.toString('hex').toUpperCase();
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
