import { inject, injectable } from '../../kernel/container.js';
import { SysFlag } from '../../protocol/codes.js';
import { copyBytes } from '../../protocol/copy.js';
import { setInt64 } from '../../protocol/int64.js';
import { copyWithCrc } from '../../protocol/message/crc.js';
import { topicProblem } from '../../protocol/message/names.js';
import { formatProperties, parseProperties, PropertyName } from '../../protocol/message/properties.js';
import {
  BODY_CRC_AT,
  preparedTransactionOffsetAt,
  PROPERTIES_BYTES_MAX,
  QUEUE_ID_AT,
  SYS_FLAG_AT,
  TOTAL_SIZE_AT,
} from '../../protocol/message/record.js';
import { AppendGate } from '../commitlog/contract.js';
import { Delays } from '../schedule/contract.js';
import { withTransaction, type HalfRecord } from './half-record.js';
import type { Ending } from './ending.js';

/** What became of a final message: it lies in the ring, the ring is full, or it can never be stored. */
export type Handed = 'handedOver' | 'ringFull' | { readonly problem: string; readonly tooLarge?: boolean };

/**
 * The message that consumers see: the half with its true topic and queue, the transaction's mark and the place of its half (4.9:
 * EndTransactionProcessor#endMessageTransaction). Its properties stay as they are, those of the transaction included.
 */
@injectable()
export class FinalMessages {
  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(Delays) private readonly delays: Delays,
  ) {}

  put(half: HalfRecord, ending: Ending): Handed {
    const { realTopic, realQueueId } = half;
    const problem = topicProblem(realTopic);
    if (problem !== undefined) return { problem };
    if (Number.isNaN(realQueueId)) return { problem: 'its queue id is no number' };
    if (half.isDelayed) return this.#putDelayed(half, ending);
    const properties = half.view;
    return this.#put(half, ending, realTopic, realQueueId, properties, half.propertiesAt, half.propertiesBytes);
  }

  /** Now that it is committed it waits for its time, like any other message. */
  #putDelayed(half: HalfRecord, ending: Ending): Handed {
    const { bytes, propertiesAt, propertiesBytes } = half;
    const properties = parseProperties(bytes.toString('utf8', propertiesAt, propertiesAt + propertiesBytes));
    const place = this.delays.placeOf(half.realTopic, half.realQueueId, properties);
    if (place !== undefined) properties.delete(PropertyName.TRANSACTION_PREPARED);
    for (const [name, value] of Object.entries(place?.noted ?? {})) properties.set(name, value);
    const { topic, queueId } = place ?? { topic: half.realTopic, queueId: half.realQueueId };
    const text = Buffer.from(formatProperties(properties));
    if (text.length > PROPERTIES_BYTES_MAX) return { problem: 'its properties are too long', tooLarge: true };
    const view = new DataView(text.buffer, text.byteOffset, text.length);
    return this.#put(half, ending, topic, queueId, view, 0, text.length);
  }

  #put(
    half: HalfRecord,
    ending: Ending,
    topic: string,
    queueId: number,
    properties: DataView,
    propertiesAt: number,
    propertiesBytes: number,
  ): Handed {
    const { gate } = this;
    const { view: source, start: from, bodyAt, bodyBytes, sysFlag } = half;
    const headBytes = bodyAt - from;
    const size = headBytes + bodyBytes + 1 + topic.length + 2 + propertiesBytes;
    // Only of half the ring's size is it certain that it fits when the ring is empty.
    if (size * 2 > gate.bytes.length)
      return { problem: `a record of ${size} bytes needs a ring of twice its size (ringBytes)`, tooLarge: true };
    const start = gate.reserve(size);
    if (start < 0) return 'ringFull';
    const { view } = gate;
    copyBytes(source, from, bodyAt, view, start);
    view.setInt32(start + TOTAL_SIZE_AT, size);
    view.setInt32(start + QUEUE_ID_AT, queueId);
    view.setInt32(start + SYS_FLAG_AT, withTransaction(sysFlag, SysFlag.TRANSACTION_COMMIT));
    setInt64(view, start + preparedTransactionOffsetAt(sysFlag), half.physicalOffset);
    const crc = copyWithCrc(source, bodyAt, bodyAt + bodyBytes, view, start + headBytes);
    // What was reserved and not committed is reserved again by the next one.
    if (crc !== source.getInt32(from + BODY_CRC_AT)) return { problem: 'its body is damaged' };
    let to = start + headBytes + bodyBytes;
    view.setUint8(to++, topic.length);
    for (let i = 0; i < topic.length; i++) view.setUint8(to++, topic.charCodeAt(i));
    view.setInt16(to, propertiesBytes);
    copyBytes(properties, propertiesAt, propertiesAt + propertiesBytes, view, to + 2);
    gate.commit(size, topic, queueId, 1, ending);
    return 'handedOver';
  }
}
