import { setImmediate as nextTurn } from 'node:timers/promises';
import { inject, injectable } from '../../../kernel/container.js';
import { RequestCode } from '../../../protocol/codes.js';
import { encodeCheckTransactionState } from '../../../protocol/headers/check-transaction-state.js';
import { createOffsetMessageId } from '../../../protocol/message/message-id.js';
import { propertyOf, PropertyName } from '../../../protocol/message/properties.js';
import { recordCopy, writeRecordCopy } from '../../../protocol/message/record-copy.js';
import { measure, QUEUE_ID_AT, storeHostAt, storeHostBytes } from '../../../protocol/message/record.js';
import type { Question } from '../../../workers/transaction/contract.js';
import { LogReader } from '../../commitlog/contract.js';
import { Producers, type ClientChannel } from '../../groups/contract.js';
import { Decided } from '../contract.js';

/** A producer that has so much to read is not asked: another one is, or it is asked later. */
const BACKLOG_BYTES_MAX = 1024 * 1024;
/** After so many bytes of questions others have their turn; each takes as long as some bytes more. */
const BYTES_PER_TURN = 1024 * 1024;
const BYTES_PER_QUESTION = 8192;

/** Asks producers how their transactions ended: CHECK_TRANSACTION_STATE (39), which they answer with an END_TRANSACTION. */
@injectable()
export class Asking {
  /** 4.9: ProducerManager#getAvailableChannel: one after the other, over all groups. */
  #turn = 0;

  constructor(
    @inject(LogReader) private readonly log: LogReader,
    @inject(Producers) private readonly producers: Producers,
    @inject(Decided) private readonly decided: Decided,
  ) {}

  /** Groups that have a member which can be asked. */
  liveGroups(): string[] {
    return [...this.producers.all()].filter(([group]) => this.#members(group).length > 0).map(([group]) => group);
  }

  /** Resolves to the queue offsets about which nobody could be asked. */
  async ask(questions: readonly Question[]): Promise<number[]> {
    const notAsked: number[] = [];
    let bytes = 0;
    for (const question of questions) {
      if (this.decided.of(question.origin) !== undefined) continue;
      const record = await this.log.record(question.physicalOffset);
      if (record === undefined) continue;
      const asked = this.#askOne(record, question);
      if (asked === undefined) notAsked.push(question.queueOffset);
      bytes += BYTES_PER_QUESTION + (asked ?? 0);
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
    return notAsked;
  }

  /** How many bytes went out; undefined when nobody could be asked. */
  #askOne(record: Buffer, question: Question): number | undefined {
    const { propertiesAt } = measure(record, 0);
    const properties = record.toString('utf8', propertiesAt);
    const channel = this.#next(propertyOf(properties, PropertyName.PRODUCER_GROUP) ?? '');
    if (channel === undefined) return undefined;
    const key = propertyOf(properties, PropertyName.UNIQ_KEY);
    const ext = encodeCheckTransactionState({
      tranStateTableOffset: question.queueOffset,
      commitLogOffset: question.physicalOffset,
      offsetMsgId: messageIdOf(record, question.physicalOffset),
      ...(key === undefined ? {} : { msgId: key, transactionId: key }),
    });
    const body = asSent(record, properties);
    channel.connection.notify(RequestCode.CHECK_TRANSACTION_STATE, ext, body);
    return body.length;
  }

  #next(group: string): ClientChannel | undefined {
    const members = this.#members(group);
    this.#turn = (this.#turn + 1) & 0x7fffffff;
    return members.length === 0 ? undefined : members[this.#turn % members.length];
  }

  #members(group: string): ClientChannel[] {
    const members = this.producers.channels(group)?.values() ?? [];
    return [...members].filter(
      ({ connection: { closed, backlogBytes } }) => !closed && backlogBytes < BACKLOG_BYTES_MAX,
    );
  }
}

/** The half with the topic and queue that it was sent to (4.9: AbstractTransactionalMessageCheckListener#sendCheckMessage). */
function asSent(record: Buffer, properties: string): Buffer {
  const copy = recordCopy(record, propertyOf(properties, PropertyName.REAL_TOPIC) ?? '', {})!;
  const body = Buffer.allocUnsafe(copy.bytes);
  writeRecordCopy(copy, body, 0);
  body.writeInt32BE(Number(propertyOf(properties, PropertyName.REAL_QUEUE_ID) ?? 0) | 0, QUEUE_ID_AT);
  return body;
}

function messageIdOf(record: Buffer, physicalOffset: number): string {
  const { sysFlag } = measure(record, 0);
  const end = storeHostAt(sysFlag) + storeHostBytes(sysFlag);
  return createOffsetMessageId(
    record.subarray(storeHostAt(sysFlag), end - 4),
    record.readInt32BE(end - 4),
    physicalOffset,
  );
}
