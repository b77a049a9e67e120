import { viewOf } from '../../protocol/copy.js';
import { SysFlag } from '../../protocol/codes.js';
import { KnownStrings } from '../../protocol/known-strings.js';
import { measure, PHYSICAL_OFFSET_AT, QUEUE_OFFSET_AT } from '../../protocol/message/record.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { getInt64 } from '../../protocol/int64.js';

const NAME_END = 1;
const PROPERTY_END = 2;
const HALF_TOPIC = Buffer.from(SystemTopic.TRANS_HALF);
const WAIT = Buffer.from(PropertyName.WAIT_STORE_MSG_OK);
const GROUP = Buffer.from(PropertyName.PRODUCER_GROUP);
const REAL_TOPIC = Buffer.from(PropertyName.REAL_TOPIC);
const REAL_QUEUE_ID = Buffer.from(PropertyName.REAL_QUEUE_ID);
const ORIGIN = Buffer.from(PropertyName.TRANSACTION_PREPARED_QUEUE_OFFSET);
const DELAY = Buffer.from(PropertyName.DELAY_TIME_LEVEL);
const TIMER = Buffer.from('TIMER_');

/**
 * A half as it stands in the log. There is one, filled in anew for each that is looked at; its bytes are those it was read into.
 */
export class HalfRecord {
  bytes: Buffer = Buffer.alloc(0);
  view = viewOf(this.bytes);
  /** Where in them it begins. */
  start = 0;
  totalBytes = 0;
  sysFlag = 0;
  queueOffset = 0;
  physicalOffset = 0;
  bodyAt = 0;
  bodyBytes = 0;
  propertiesAt = 0;
  propertiesBytes = 0;
  producerGroup = '';
  realTopic = '';
  /** NaN without one. */
  realQueueId = 0;
  /** Queue offset of the half as it was sent. */
  origin = 0;
  waitStore = true;
  /** A property asks for a later delivery. */
  isDelayed = false;
  readonly #known = new KnownStrings();

  /** Looks at the record at `start`, which was checked. False when it is no half. */
  load(bytes: Buffer, view = viewOf(bytes), start = 0): boolean {
    const layout = measure(bytes, start);
    if (layout.topicBytes !== HALF_TOPIC.length || !startsWith(bytes, layout.topicAt, HALF_TOPIC)) return false;
    this.bytes = bytes;
    this.view = view;
    this.start = start;
    this.totalBytes = layout.totalBytes;
    this.sysFlag = layout.sysFlag;
    this.bodyAt = layout.bodyAt;
    this.bodyBytes = layout.bodyBytes;
    this.propertiesAt = layout.propertiesAt;
    this.propertiesBytes = layout.propertiesBytes;
    this.queueOffset = getInt64(view, start + QUEUE_OFFSET_AT);
    this.physicalOffset = getInt64(view, start + PHYSICAL_OFFSET_AT);
    this.#readProperties();
    return true;
  }

  #readProperties(): void {
    this.producerGroup = '';
    this.realTopic = '';
    this.realQueueId = NaN;
    this.origin = this.queueOffset;
    this.waitStore = true;
    this.isDelayed = false;
    const { bytes } = this;
    const end = this.propertiesAt + this.propertiesBytes;
    for (let at = this.propertiesAt; at < end;) {
      let middle = -1;
      let to = at;
      for (; to < end; to++) {
        const byte = bytes[to];
        if (byte === PROPERTY_END) break;
        if (byte === NAME_END && middle < 0) middle = to;
      }
      if (middle > at && middle < to - 1) this.#readProperty(at, middle, to);
      at = to + 1;
    }
  }

  /** Of equal names the last counts, as in 4.9. */
  #readProperty(at: number, middle: number, to: number): void {
    const { bytes } = this;
    switch (middle - at) {
      case WAIT.length:
        if (startsWith(bytes, at, WAIT)) this.waitStore = this.#text(middle, to).toLowerCase() === 'true';
        return;
      case DELAY.length:
        if (startsWith(bytes, at, DELAY)) this.isDelayed = true;
        return;
      case GROUP.length:
        if (startsWith(bytes, at, GROUP)) this.producerGroup = this.#text(middle, to);
        return;
      case REAL_QUEUE_ID.length:
        if (startsWith(bytes, at, REAL_QUEUE_ID)) this.realQueueId = numberOf(this.#text(middle, to));
        return;
      case REAL_TOPIC.length:
        if (startsWith(bytes, at, REAL_TOPIC)) this.realTopic = this.#text(middle, to);
        return;
      case ORIGIN.length:
        if (startsWith(bytes, at, ORIGIN)) this.#readOrigin(numberOf(this.#text(middle, to)));
        return;
      default:
        if (startsWith(bytes, at, TIMER)) this.isDelayed = true;
    }
  }

  /** A copy is behind what it is a copy of; anything else is a producer's own property. */
  #readOrigin(origin: number): void {
    if (origin < this.queueOffset) this.origin = origin;
  }

  #text(middle: number, to: number): string {
    return this.#known.text(this.bytes, middle + 1, to);
  }
}

/** The transaction bits replaced (4.9: MessageSysFlag#resetTransactionValue). */
export function withTransaction(sysFlag: number, type: number): number {
  return (sysFlag & ~SysFlag.TRANSACTION_ROLLBACK) | type;
}

function startsWith(bytes: Uint8Array, at: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

function numberOf(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : NaN;
}
