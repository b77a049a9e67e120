import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { copyBytes, viewOf } from '../../protocol/copy.js';
import { ProtocolError } from '../../protocol/errors.js';
import { ResponseCode } from '../../protocol/codes.js';
import { BatchReader } from '../../protocol/message/batch.js';
import { copyWithCrc } from '../../protocol/message/crc.js';
import { BODY_CRC_AT, PROPERTIES_BYTES_MAX, TOPIC_BYTES_MAX } from '../../protocol/message/record.js';
import { AppendGate } from '../commitlog/contract.js';
import { afterTopic } from './after-topic.js';
import { PendingSend } from './pending-send.js';
import { PropertyScan } from './property-scan.js';
import { SendEncoder, writeTopic, type Encoded } from './encoder.js';
import { illegal } from './steps.js';
import type { SendWork } from './work.js';

const PROPERTY_END = 2;
const RECORD_OVERHEAD_BYTES = 64 * 1024;
/** How the properties begin that ask for a delivery time. */
const TIMER = Buffer.from('TIMER_DE');

/**
 * The inner records of a batch become records of their own that follow each other, stored whole or not at all; the request's own
 * properties stand behind those of each (4.9: MessageExtEncoder#encode of a MessageExtBatch).
 */
@injectable()
export class BatchEncoder {
  readonly #reader = new BatchReader();
  readonly #scan: PropertyScan;
  readonly #inner: PropertyScan;
  /** The request's properties as they are put behind those of each record. */
  #shared = viewOf(Buffer.alloc(0));

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(SendEncoder) private readonly encoder: SendEncoder,
    @inject(Options) private readonly options: Options,
  ) {
    this.#scan = new PropertyScan(options.brokerClusterName);
    this.#inner = new PropertyScan(options.brokerClusterName);
  }

  encode(work: SendWork): Encoded {
    if (!this.#isAccepted(work)) return 'refused';
    const { request, topic } = work;
    this.encoder.begin(work);
    this.#shared = viewOf(Buffer.allocUnsafe(this.#scan.storedBytes));
    this.#scan.write(work.propertySource, this.#shared, 0);
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
    if (this.#scan.isSpecial(work.sysFlag))
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, 'a batch cannot be delayed or transactional');
    return true;
  }

  /** Bytes and number of the records, or undefined when one is refused, and with it all. */
  #measure(work: SendWork): { bytes: number; records: number } | undefined {
    const { request } = work;
    const reader = this.#reader.reset(work.source, request.bodyStart, request.bodyEnd);
    let bytes = 0;
    let records = 0;
    // One search instead of looking at each property of each record.
    const mayBeTimed = request.buffer.subarray(request.bodyStart, request.bodyEnd).includes(TIMER);
    try {
      while (reader.next()) {
        if (mayBeTimed && this.#isTimed(request.buffer))
          throw new ProtocolError('a batch cannot be delayed: one of its messages asks for a delivery time');
        const propertiesBytes = this.#propertiesBytes(work.source);
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

  /** Stored plainly it would come at once. What was delayed before is not a second time. */
  #isTimed(buffer: Buffer): boolean {
    this.#inner.scan(buffer, this.#reader.propertiesStart, this.#reader.propertiesEnd);
    const { timer } = this.#inner;
    return timer !== undefined && timer.out === undefined;
  }

  #write(work: SendWork, start: number): void {
    const { source, topic } = work;
    const { bytes, view } = this.gate;
    const { head } = this.encoder;
    const reader = this.#reader.reset(source, work.request.bodyStart, work.request.bodyEnd);
    const shared = this.#shared;
    let at = start;
    while (reader.next()) {
      const bodyBytes = reader.bodyEnd - reader.bodyStart;
      const propertiesBytes = this.#propertiesBytes(source);
      head.flag = reader.flag;
      const bodyAt = head.write(view, at, head.recordBytes(bodyBytes, topic.length, propertiesBytes), bodyBytes);
      view.setInt32(at + BODY_CRC_AT, copyWithCrc(source, reader.bodyStart, reader.bodyEnd, view, bodyAt));
      at = writeTopic(bytes, bodyAt + bodyBytes, topic);
      view.setInt16(at, propertiesBytes);
      at += 2;
      at += copyBytes(source, reader.propertiesStart, reader.propertiesEnd, view, at);
      if (this.#needsSeparator(source)) view.setUint8(at++, PROPERTY_END);
      at += copyBytes(shared, 0, shared.byteLength, view, at);
    }
  }

  #propertiesBytes(source: DataView): number {
    const own = this.#reader.propertiesEnd - this.#reader.propertiesStart;
    return own + (this.#needsSeparator(source) ? 1 : 0) + this.#shared.byteLength;
  }

  #needsSeparator(source: DataView): boolean {
    const { propertiesStart, propertiesEnd } = this.#reader;
    return (
      propertiesEnd > propertiesStart &&
      this.#shared.byteLength > 0 &&
      source.getUint8(propertiesEnd - 1) !== PROPERTY_END
    );
  }
}
