import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import { RequestCode } from '../../../protocol/codes.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import {
  decodeCheckTransactionState,
  type CheckTransactionStateRequestHeader,
} from '../../../protocol/headers/check-transaction-state.js';
import { encodeEndTransaction } from '../../../protocol/headers/end-transaction.js';
import { decodeGetMaxOffsetResponse, encodeGetMaxOffset } from '../../../protocol/headers/get-max-offset.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { decodeRecords, type StoredMessage } from '../../../protocol/message/record.js';
import { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, send } from '../../support/send-pull.js';
import { until } from '../../support/until.js';
import { patienceMs } from './suite.js';

const GROUP = 'PG';
export const COMMIT = 8;
export const ROLLBACK = 12;

/** Where a half message lies: what its END_TRANSACTION names. */
export type Half = Pick<CheckTransactionStateRequestHeader, 'tranStateTableOffset' | 'commitLogOffset'>;

/** One question of the broker: about which message, and which one it was by the broker's count. */
export interface Question {
  readonly key: string;
  readonly times: number;
}

/** A producer of frames: what it sends is delayed or half of a transaction, and it answers questions as `answers` says. */
export class PendingClient implements Disposable {
  readonly questions: Question[] = [];

  private constructor(
    readonly client: RawClient,
    private readonly topic: string,
    /** COMMIT or ROLLBACK by key; all others stay unknown. */
    private readonly answers: ReadonlyMap<string, number>,
  ) {
    client.respond = ({ code, ext, body }) => {
      if (code === RequestCode.CHECK_TRANSACTION_STATE) this.#asked(decodeCheckTransactionState(ext), body);
      return undefined;
    };
  }

  static async connect(
    broker: string,
    topic: string,
    answers: ReadonlyMap<string, number> = new Map(),
  ): Promise<PendingClient> {
    return new PendingClient(await RawClient.connect(broker), topic, answers);
  }

  /** From now on the broker can ask. */
  async join(): Promise<void> {
    const body = encodeHeartbeat({
      clientID: `client@${this.client.localPort}`,
      consumerDataSet: [],
      producerDataSet: [{ groupName: GROUP }],
    });
    assert.equal((await this.client.ask(RequestCode.HEART_BEAT, { body })).code, 0);
  }

  async send(key: string, properties: Readonly<Record<string, string>> = {}, sysFlag = 0): Promise<Half> {
    const all = propertyText({ KEYS: key, UNIQ_KEY: `ID-${key}`, ...properties });
    const bornTimestamp = systemClock.wallMs();
    const wish = { topic: this.topic, sysFlag, bornTimestamp, properties: all, body: Buffer.from(key) };
    const { code, remark, header } = await send(this.client, wish);
    assert.equal(code, 0, remark ?? '');
    return { tranStateTableOffset: header.queueOffset, commitLogOffset: parseInt(header.msgId.slice(-16), 16) };
  }

  half(key: string, properties: Readonly<Record<string, string>> = {}): Promise<Half> {
    return this.send(key, { ...properties, TRAN_MSG: 'true', PGROUP: GROUP }, 4);
  }

  async end(half: Half, commitOrRollback: number): Promise<void> {
    const header = { producerGroup: GROUP, ...half, commitOrRollback, fromTransactionCheck: false, msgId: 'any' };
    const { code, remark } = await this.client.ask(RequestCode.END_TRANSACTION, { ext: encodeEndTransaction(header) });
    assert.equal(code, 0, remark ?? '');
  }

  async maxOffset(topic: string): Promise<number> {
    const ext = encodeGetMaxOffset({ topic, queueId: 0 });
    const answer = await this.client.ask(RequestCode.GET_MAX_OFFSET, { ext });
    return decodeGetMaxOffsetResponse(answer.ext).offset;
  }

  async configure(setting: string): Promise<void> {
    const { code, remark } = await this.client.ask(RequestCode.UPDATE_BROKER_CONFIG, { body: Buffer.from(setting) });
    assert.equal(code, 0, remark ?? '');
  }

  /** The messages of the topic once there are so many. */
  async arrived(count: number, topic = this.topic): Promise<StoredMessage[]> {
    await until(async () => (await this.maxOffset(topic)) >= count, `${count} messages of ${topic}`, patienceMs);
    const found: StoredMessage[] = [];
    while (found.length < count) {
      const { messages } = await pull(this.client, { topic, queueOffset: found.length });
      assert.ok(messages.length > 0, `${topic} has messages at ${found.length}`);
      found.push(...messages);
    }
    return found;
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }

  #asked({ tranStateTableOffset, commitLogOffset }: Half, body: Buffer): void {
    const [record] = decodeRecords(body);
    const properties = parseProperties(record?.properties ?? '');
    const key = properties.get('KEYS') ?? '';
    this.questions.push({ key, times: Number(properties.get('TRANSACTION_CHECK_TIMES')) });
    const commitOrRollback = this.answers.get(key);
    if (commitOrRollback === undefined) return;
    const header = { producerGroup: GROUP, tranStateTableOffset, commitLogOffset, commitOrRollback };
    const ext = encodeEndTransaction({ ...header, fromTransactionCheck: true, msgId: 'any' });
    this.client.tell(RequestCode.END_TRANSACTION, { ext });
  }
}

export function keyOf(message: StoredMessage): string {
  return parseProperties(message.properties).get('KEYS') ?? '';
}
