import { ResponseCode } from '../../protocol/codes.js';
import type { Serialize } from '../../protocol/command.js';
import { encodeSendMessageResponse } from '../../protocol/headers/send-message.js';
import type { SendAnswer } from '../../protocol/headers/send-answer-fast.js';
import { createOffsetMessageId } from '../../protocol/message/message-id.js';
import { TOTAL_SIZE_AT } from '../../protocol/message/record.js';
import { physicalOffsetAt, queueOffsetAt } from '../../protocol/message/stamped.js';
import type { AppendStatus, PendingAppend, StoreHost } from '../commitlog/contract.js';
import type { Counters } from '../metrics/contract.js';
import type { Connection, Reply } from '../remoting/contract.js';

/** What the answers of this broker have in common. */
export interface Answering {
  readonly fast: SendAnswer;
  readonly host: StoreHost;
  /** Stand in every answer, refusals included. */
  readonly region: string;
  readonly traceOn: string;
  readonly counters: Counters;
}

const NONE: readonly number[] = [];

/** One send request between the ring and its answer. */
export class PendingSend implements PendingAppend {
  #queueOffset = 0;
  #physicalOffset = 0;
  /** Physical offsets of a batch's other messages. */
  #others = NONE;

  constructor(
    private readonly answering: Answering,
    private readonly connection: Connection,
    readonly opaque: number,
    readonly serialize: Serialize,
    readonly oneway: boolean,
    private readonly queueId: number,
    private readonly records: number,
    private readonly bytes: number,
    readonly waitStore: boolean,
  ) {}

  appended(ring: DataView, start: number): void {
    this.answering.counters.putMessages += this.records;
    this.answering.counters.putBytes += this.bytes;
    this.#queueOffset = queueOffsetAt(ring, start);
    this.#physicalOffset = physicalOffsetAt(ring, start);
    if (this.records > 1 && !this.oneway) this.#others = this.#othersIn(ring, start);
  }

  settle(status: AppendStatus, reason: string): void {
    if (this.oneway || this.connection.closed) return;
    if (status === 'stored') this.#answerFast();
    else this.connection.reply(this, this.#reply(status, reason));
  }

  #answerFast(): void {
    const { fast } = this.answering;
    const at = this.connection.reserve(fast.bytesFor(this.records));
    const { outbound } = this.connection;
    const end = fast.write(
      outbound,
      at,
      this,
      ResponseCode.SUCCESS,
      this.queueId,
      this.#queueOffset,
      this.#physicalOffset,
      this.#others,
    );
    this.connection.written(end);
  }

  #reply(status: AppendStatus, reason: string): Reply {
    const { region: MSG_REGION, traceOn: TRACE_ON } = this.answering;
    switch (status) {
      case 'stored':
      case 'flushTimeout':
      case 'flushFailed': {
        const code = status === 'stored' ? ResponseCode.SUCCESS : ResponseCode.FLUSH_DISK_TIMEOUT;
        const place = { msgId: this.#ids(), queueId: this.queueId, queueOffset: this.#queueOffset };
        return { code, ext: encodeSendMessageResponse({ MSG_REGION, TRACE_ON, ...place }, this.serialize) };
      }
      case 'tooLarge':
        this.answering.counters.putRefused += this.records;
        return { code: ResponseCode.MESSAGE_ILLEGAL, remark: reason, ext: { MSG_REGION, TRACE_ON } };
      case 'noSpace':
      case 'writeFailed':
      case 'readOnly':
        this.answering.counters.putRefused += this.records;
        return {
          code: ResponseCode.SERVICE_NOT_AVAILABLE,
          remark: `service not available now: ${reason}`,
          ext: { MSG_REGION, TRACE_ON },
        };
    }
  }

  #othersIn(ring: DataView, start: number): readonly number[] {
    const offsets: number[] = [];
    let at = start;
    for (let i = 1; i < this.records; i++) {
      at += ring.getInt32(at + TOTAL_SIZE_AT);
      offsets.push(physicalOffsetAt(ring, at));
    }
    return offsets;
  }

  #ids(): string {
    const { address, port } = this.answering.host;
    const offsets = [this.#physicalOffset, ...this.#others];
    return offsets.map((offset) => createOffsetMessageId(address, port, offset)).join(',');
  }
}
