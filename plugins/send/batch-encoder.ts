import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { ProtocolError } from '../../protocol/errors.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import { BatchReader } from '../../protocol/message/batch.js';
import { crc32 } from '../../protocol/message/crc.js';
import { PROPERTIES_BYTES_MAX, TOPIC_BYTES_MAX } from '../../protocol/message/record.js';
import { AppendGate } from '../commitlog/contract.js';
import { afterTopic } from './after-topic.js';
import { PendingSend } from './pending-send.js';
import { PropertyScan, copyBytes } from './property-scan.js';
import { SendEncoder, writeTopic, type Encoded } from './encoder.js';
import { illegal } from './steps.js';
import type { SendWork } from './work.js';

const PROPERTY_END = 2;
const RECORD_OVERHEAD_BYTES = 64 * 1024;

/**
 * The inner records of a batch become records of their own that follow each other, stored whole or not at all; the request's own
 * properties stand behind those of each (4.9: MessageExtEncoder#encode of a MessageExtBatch).
 */
@injectable()
export class BatchEncoder {
  readonly #reader = new BatchReader();
  readonly #scan: PropertyScan;
  /** The request's properties as they are put behind those of each record. */
  #shared = Buffer.alloc(0);

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(SendEncoder) private readonly encoder: SendEncoder,
    @inject(Options) private readonly options: Options,
  ) {
    this.#scan = new PropertyScan(options.brokerClusterName);
  }

  encode(work: SendWork): Encoded {
    if (!this.#isAccepted(work)) return 'refused';
    const { fields, request, topic } = work;
    this.encoder.begin(work);
    const shared = Buffer.allocUnsafe(this.#scan.storedBytes);
    this.#scan.write(fields.buffer, shared, 0);
    this.#shared = shared;
    const measured = this.#measure(work);
    if (measured === undefined) return 'refused';
    const start = this.gate.reserve(measured.bytes);
    if (start < 0) return 'ringFull';
    this.#write(work, start);
    const { opaque, serialize, oneway } = request;
    const { answering } = this.encoder;
    const { records } = measured;
    const pending = new PendingSend(
      answering,
      work.connection,
      opaque,
      serialize,
      oneway,
      work.answeredQueueId,
      records,
      measured.bytes,
      this.#scan.waitStore,
    );
    this.gate.commit(measured.bytes, topic, work.queueId, records, afterTopic(pending, work.topicSaved));
    return 'handedOver';
  }

  #isAccepted(work: SendWork): boolean {
    const { fields } = work;
    const tooLong = `message topic length too long ${work.topic.length}`;
    if (work.topic.length > TOPIC_BYTES_MAX) return work.refuse(ResponseCode.MESSAGE_ILLEGAL, tooLong);
    this.#scan.scan(fields.buffer, fields.propertiesStart, fields.propertiesEnd);
    if (this.#scan.delayed || this.#scan.transaction || (work.sysFlag & SysFlag.TRANSACTION_ROLLBACK) !== 0)
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, 'a batch cannot be delayed or transactional');
    return true;
  }

  /** Bytes and number of the records, or undefined when one is refused, and with it all. */
  #measure(work: SendWork): { bytes: number; records: number } | undefined {
    const { request } = work;
    const reader = this.#reader.reset(request.buffer, request.bodyStart, request.bodyEnd);
    let bytes = 0;
    let records = 0;
    try {
      while (reader.next()) {
        const propertiesBytes = this.#propertiesBytes(request.buffer);
        if (propertiesBytes > PROPERTIES_BYTES_MAX) throw new ProtocolError(illegal(this.options.maxMessageSize));
        bytes += this.encoder.head.recordBytes(reader.bodyEnd - reader.bodyStart, work.topic.length, propertiesBytes);
        records++;
      }
      if (records === 0) throw new ProtocolError('the batch is empty');
      // 4.9: the encoder's buffer holds 64 KiB more than the largest body.
      if (bytes > this.options.maxMessageSize + RECORD_OVERHEAD_BYTES)
        throw new ProtocolError(illegal(this.options.maxMessageSize));
      return { bytes, records };
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      work.refuse(ResponseCode.MESSAGE_ILLEGAL, error.message);
      return undefined;
    }
  }

  #write(work: SendWork, start: number): void {
    const { buffer, bodyStart, bodyEnd } = work.request;
    const { bytes } = this.gate;
    const { head } = this.encoder;
    const reader = this.#reader.reset(buffer, bodyStart, bodyEnd);
    let at = start;
    while (reader.next()) {
      const bodyBytes = reader.bodyEnd - reader.bodyStart;
      const propertiesBytes = this.#propertiesBytes(buffer);
      head.flag = reader.flag;
      const total = head.recordBytes(bodyBytes, work.topic.length, propertiesBytes);
      at = head.write(bytes, at, total, crc32(buffer, reader.bodyStart, reader.bodyEnd), bodyBytes);
      at += copyBytes(buffer, reader.bodyStart, reader.bodyEnd, bytes, at);
      at = bytes.writeInt16BE(propertiesBytes, writeTopic(bytes, at, work.topic));
      at += copyBytes(buffer, reader.propertiesStart, reader.propertiesEnd, bytes, at);
      if (this.#needsSeparator(buffer)) bytes[at++] = PROPERTY_END;
      at += copyBytes(this.#shared, 0, this.#shared.length, bytes, at);
    }
  }

  #propertiesBytes(buffer: Buffer): number {
    const own = this.#reader.propertiesEnd - this.#reader.propertiesStart;
    return own + (this.#needsSeparator(buffer) ? 1 : 0) + this.#shared.length;
  }

  #needsSeparator(buffer: Buffer): boolean {
    const { propertiesStart, propertiesEnd } = this.#reader;
    return propertiesEnd > propertiesStart && this.#shared.length > 0 && buffer[propertiesEnd - 1] !== PROPERTY_END;
  }
}
