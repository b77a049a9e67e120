import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { PullSysFlag, RequestCode } from '../../../protocol/codes.js';
import { encodeRequest, Serialize, type ExtFields } from '../../../protocol/command.js';
import { encodeEndTransaction } from '../../../protocol/headers/end-transaction.js';
import { encodeBatch } from '../../../protocol/message/batch.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { pullAsk, sendAsk, subscriptionTo } from '../../support/send-pull.js';
import { structuredFrames } from './structured-frames.js';

/** Bytes to write, and what the server has to do with them. */
export interface BadFrame {
  readonly what: string;
  readonly bytes: Buffer;
  /**
   * `any`: a frame whose length is right: answered, or the connection is closed. `closes`: closed as soon as the bytes are there.
   * `unfinished`: the server waits for more bytes; the connection is ended from this side and must be gone then.
   */
  readonly expects: 'any' | 'closes' | 'unfinished';
}

interface Seed {
  readonly code: number;
  readonly ext: ExtFields;
  readonly body?: Buffer;
}

const TOPIC = 'bad';
const place = { topic: TOPIC, queueId: '0' };

/** Requests as a client makes them, one per kind of handler: what is bent is mostly right. */
const seeds: readonly Seed[] = [
  seedOf(sendAsk({ topic: TOPIC, properties: 'KEYS\u0001k\u0002WAIT\u0001true' })),
  seedOf(sendAsk({ topic: TOPIC, code: RequestCode.SEND_MESSAGE })),
  seedOf(
    sendAsk({
      topic: TOPIC,
      code: RequestCode.SEND_BATCH_MESSAGE,
      body: encodeBatch([1, 2, 3].map((n) => ({ flag: 0, body: Buffer.alloc(n), properties: '' }))),
    }),
  ),
  ...['DELAY\u00013', 'TIMER_DELIVER_MS\u00011700000000000', 'TIMER_DELAY_SEC\u00011', 'TIMER_DELAY_MS\u00011000'].map(
    (delay) => seedOf(sendAsk({ topic: TOPIC, properties: `${delay}\u0002WAIT\u0001true` })),
  ),
  seedOf(sendAsk({ topic: TOPIC, properties: 'TRAN_MSG\u0001true\u0002PGROUP\u0001bad', sysFlag: 4 })),
  { code: RequestCode.END_TRANSACTION, ext: endOf(0, 8) },
  { code: RequestCode.END_TRANSACTION, ext: endOf(1, 12) },
  { code: RequestCode.PULL_MESSAGE, ext: pullAsk({ topic: TOPIC, suspendTimeoutMillis: 0 }).ext ?? {} },
  { code: RequestCode.HEART_BEAT, ext: {}, body: heartbeatBody() },
  { code: RequestCode.QUERY_CONSUMER_OFFSET, ext: { ...place, consumerGroup: 'bad' } },
  { code: RequestCode.UPDATE_CONSUMER_OFFSET, ext: { ...place, consumerGroup: 'bad', commitOffset: '1' } },
  { code: RequestCode.GET_MAX_OFFSET, ext: place },
  { code: RequestCode.GET_MIN_OFFSET, ext: place },
  { code: RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, ext: { ...place, timestamp: '1700000000000' } },
  { code: RequestCode.CONSUMER_SEND_MSG_BACK, ext: { offset: '0', group: 'bad', delayLevel: '3', unitMode: 'false' } },
  { code: RequestCode.GET_CONSUMER_LIST_BY_GROUP, ext: { consumerGroup: 'bad' } },
  { code: RequestCode.GET_TOPIC_STATS_INFO, ext: { topic: TOPIC } },
  { code: RequestCode.LOCK_BATCH_MQ, ext: {}, body: Buffer.from('{"clientId":"c","consumerGroup":"bad","mqSet":[]}') },
  { code: RequestCode.GET_BROKER_RUNTIME_INFO, ext: {} },
];

function seedOf({ code, ask }: ReturnType<typeof sendAsk>): Seed {
  return { code, ext: ask.ext ?? {}, ...(ask.body === undefined ? {} : { body: ask.body }) };
}

/** Of a half that is there soon: the transactional sends above make them. */
function endOf(tranStateTableOffset: number, commitOrRollback: number): ExtFields {
  return encodeEndTransaction({
    producerGroup: 'bad',
    ...{ tranStateTableOffset, commitLogOffset: 0, commitOrRollback },
    fromTransactionCheck: false,
    msgId: 'bad',
    transactionId: 'bad',
  });
}

function heartbeatBody(): Buffer {
  return encodeHeartbeat({
    clientID: 'bad',
    producerDataSet: [{ groupName: 'bad' }],
    consumerDataSet: [
      {
        groupName: 'bad',
        consumeType: 'CONSUME_PASSIVELY',
        messageModel: 'CLUSTERING',
        consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
        subscriptionDataSet: [subscriptionTo(TOPIC)],
        unitMode: false,
      },
    ],
  });
}

/** Values that break what reads a field. */
const nasty: readonly string[] = [
  '',
  '-1',
  '2147483647',
  '2147483648',
  '9223372036854775807',
  '-9223372036854775808',
  '1e9',
  'NaN',
  'null',
  '../../x',
  '%RETRY%../x',
  '\u0000',
  '\ud800',
  '\u0001\u0002\u0002\u0001',
  'x'.repeat(70_000),
];
/** Properties that decide where a message goes. */
const properties: readonly string[] = [
  ...[
    'DELAY',
    'TIMER_DELIVER_MS',
    'TIMER_DELAY_SEC',
    'TIMER_DELAY_MS',
    'TIMER_DEL_UNIQKEY',
    'TIMER_OUT_MS',
    'TRAN_MSG',
  ],
  ...[
    'REAL_TOPIC',
    'REAL_QID',
    'TRAN_PREPARED_QUEUE_OFFSET',
    'TRANSACTION_CHECK_TIMES',
    'CHECK_IMMUNITY_TIME_IN_SECONDS',
  ],
];
const words: readonly number[] = [0, -1, 1, 0x7fffffff, -0x80000000, 0xffffff, 0x1000000, 0x10000];
const CODES_MAX = 400;
const LENGTH_BYTES = 4;

/** An endless supply of frames that no client sends. */
export class BadFrames {
  readonly #structured = structuredFrames();
  #count = 0;
  #opaque = 0;

  constructor(private readonly random: SeededRandom) {}

  next(): BadFrame {
    const structured = this.#structured[this.#count++];
    if (structured !== undefined) return structured;
    switch (this.random.below(6)) {
      case 0:
        return this.#badField();
      case 5:
        return this.#badProperty();
      case 1:
        return { what: 'any code', bytes: this.#anyCode(), expects: 'any' };
      case 2:
        return this.#cut();
      default:
        return this.#bent();
    }
  }

  #request({ code, ext, body }: Seed): Buffer {
    this.#opaque = (this.#opaque + 1) & 0xffffff;
    const serialize = this.random.chance(0.5) ? Serialize.JSON : Serialize.ROCKETMQ;
    return encodeRequest({ code, opaque: this.#opaque, ext, serialize, ...(body === undefined ? {} : { body }) });
  }

  #seed(): Seed {
    return seeds[this.random.below(seeds.length)]!;
  }

  #badField(): BadFrame {
    const seed = this.#seed();
    const names = Object.keys(seed.ext);
    const name = names[this.random.below(names.length)] ?? 'topic';
    const { [name]: _gone, ...rest } = seed.ext;
    const value = nasty[this.random.below(nasty.length)]!;
    const ext = this.random.chance(0.2) ? rest : { ...rest, [name]: value };
    const what = `code ${seed.code}, ${name} ${name in ext ? JSON.stringify(value.slice(0, 30)) : 'missing'}`;
    return { what, bytes: this.#request({ ...seed, ext }), expects: 'any' };
  }

  /** A send whose properties ask for something that cannot be. */
  #badProperty(): BadFrame {
    const name = properties[this.random.below(properties.length)]!;
    const value = nasty[this.random.below(nasty.length)]!;
    const seed = seedOf(sendAsk({ topic: TOPIC, properties: `${name}\u0001${value}\u0002UNIQ_KEY\u0001bad` }));
    return {
      what: `property ${name} ${JSON.stringify(value.slice(0, 30))}`,
      bytes: this.#request(seed),
      expects: 'any',
    };
  }

  #anyCode(): Buffer {
    const seed = this.random.chance(0.5) ? this.#seed() : { ext: {} };
    const body = this.random.chance(0.5) ? this.#noise(this.random.below(300)) : Buffer.alloc(0);
    return this.#request({ ...seed, code: this.random.below(CODES_MAX), body });
  }

  /** A frame that ends in the middle, with the length of the whole one or of what is there. */
  #cut(): BadFrame {
    const whole = this.#request(this.#seed());
    const bytes = Buffer.from(whole.subarray(0, 1 + this.random.below(whole.length - 1)));
    if (bytes.length <= LENGTH_BYTES || this.random.chance(0.3)) {
      return { what: `cut after ${bytes.length} bytes`, bytes, expects: 'unfinished' };
    }
    bytes.writeInt32BE(bytes.length - LENGTH_BYTES, 0);
    return { what: `of ${bytes.length} bytes`, bytes, expects: bytes.length < 8 ? 'closes' : 'any' };
  }

  /** Some bytes changed, a word overwritten, or bytes put in or taken out; the frame's length is right. */
  #bent(): BadFrame {
    let bytes: Buffer = Buffer.from(this.#request(this.#seed()));
    const { random } = this;
    const at = LENGTH_BYTES + random.below(bytes.length - LENGTH_BYTES - 4);
    switch (random.below(4)) {
      case 0:
        for (let n = random.below(8); n >= 0; n--)
          bytes[LENGTH_BYTES + random.below(bytes.length - LENGTH_BYTES)] = random.below(256);
        break;
      case 1:
        bytes.writeInt32BE(words[random.below(words.length)]!, at);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), this.#noise(1 + random.below(40)), bytes.subarray(at)]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(40))]);
    }
    bytes.writeInt32BE(bytes.length - LENGTH_BYTES, 0);
    return { what: 'bent', bytes, expects: 'any' };
  }

  #noise(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.random.below(256)));
  }
}

/** The bit of a pull's `sysFlag` that lets it be held: bending may set it, and then there is no answer for a while. */
export const HOLD_FLAG = PullSysFlag.SUSPEND;
