import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { ResponseCode } from '../../protocol/codes.js';
import { SendAnswer } from '../../protocol/headers/send-answer-fast.js';
import { copyWithCrc } from '../../protocol/message/crc.js';
import { BODY_CRC_AT, PROPERTIES_BYTES_MAX } from '../../protocol/message/record.js';
import { AppendGate, StoreHost } from '../commitlog/contract.js';
import { Counters } from '../metrics/contract.js';
import { afterTopic } from './after-topic.js';
import { PendingSend, type Answering } from './pending-send.js';
import { Placement } from './placement.js';
import { PropertyScan } from './property-scan.js';
import { RecordHead } from './record-head.js';
import { illegal } from './steps.js';
import type { SendWork } from './work.js';

/** What became of an encoding. */
export type Encoded = 'handedOver' | 'refused' | 'ringFull';

/** Writes a send's record straight into the ring: no copy and no object between the socket's chunk and the log's writer. */
@injectable()
export class SendEncoder {
  readonly answering: Answering;
  readonly head: RecordHead;
  readonly #scan: PropertyScan;

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(StoreHost) host: StoreHost,
    @inject(Placement) private readonly placement: Placement,
    @inject(Options) private readonly options: Options,
    @inject(Counters) counters: Counters,
  ) {
    this.head = new RecordHead(host.address, host.port);
    this.#scan = new PropertyScan(options.brokerClusterName);
    this.answering = {
      fast: new SendAnswer(options.regionId, options.traceOn, host.address, host.port),
      host,
      region: options.regionId,
      traceOn: String(options.traceOn),
      counters,
    };
  }

  /** A single message. */
  encode(work: SendWork): Encoded {
    const { fields, request } = work;
    const scan = this.#scan;
    scan.scan(fields.buffer, fields.propertiesStart, fields.propertiesEnd);
    if (!this.#isAccepted(work)) return 'refused';
    const bodyBytes = request.bodyEnd - request.bodyStart;
    this.begin(work);
    const total = this.head.recordBytes(bodyBytes, work.topic.length, scan.storedBytes);
    const start = this.gate.reserve(total);
    if (start < 0) return 'ringFull';
    const { bytes, view } = this.gate;
    const bodyAt = this.head.write(view, start, total, bodyBytes);
    const crc = copyWithCrc(work.source, request.bodyStart, request.bodyEnd, view, bodyAt);
    view.setInt32(start + BODY_CRC_AT, crc);
    const at = writeTopic(bytes, bodyAt + bodyBytes, work.topic);
    view.setInt16(at, scan.storedBytes);
    scan.write(work.propertySource, view, at + 2);
    const pending = this.#pending(work, total, scan.waitStore);
    this.gate.commit(total, work.topic, work.queueId, 1, afterTopic(pending, work.topicSaved));
    return 'handedOver';
  }

  /** Fills the head with what all records of the request share. */
  begin(work: SendWork): void {
    const { head } = this;
    const { fields, connection } = work;
    head.queueId = work.queueId;
    head.flag = fields.flag;
    head.sysFlag = work.sysFlag;
    head.bornTimestamp = fields.bornTimestamp;
    head.bornAddress = connection.remoteAddress;
    head.bornPort = connection.remotePort;
    head.reconsumeTimes = fields.reconsumeTimes;
  }

  #pending(work: SendWork, bytes: number, waitStore: boolean): PendingSend {
    const { opaque, serialize, oneway } = work.request;
    return new PendingSend(
      this.answering,
      work.connection,
      opaque,
      serialize,
      oneway,
      work.answeredQueueId,
      1,
      bytes,
      waitStore,
    );
  }

  #isAccepted(work: SendWork): boolean {
    const scan = this.#scan;
    if (scan.isSpecial(work.sysFlag) && !this.placement.place(work, scan)) return false;
    if (scan.storedBytes > PROPERTIES_BYTES_MAX)
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, illegal(this.options.maxMessageSize));
    return true;
  }
}

/** Topics are ASCII of at most 127 bytes: they were validated. */
export function writeTopic(target: Buffer, at: number, topic: string): number {
  target[at] = topic.length;
  for (let i = 0; i < topic.length; i++) target[at + 1 + i] = topic.charCodeAt(i);
  return at + 1 + topic.length;
}
