import type { RecordVisitor } from '../commitlog/recovery.js';
import { readInt64 } from '../../protocol/int64.js';
import { bodySizeAt, QUEUE_ID_AT, QUEUE_OFFSET_AT, SYS_FLAG_AT } from '../../protocol/message/record.js';
import { isQueued, isQueuePlace } from './read-dispatch.js';
import { TopicCache } from './topic-cache.js';

/** What a stretch of the log tells of one queue. */
export interface QueueEnd {
  readonly topic: string;
  readonly queueId: number;
  /** The first of the queue's records in the stretch; of those behind the deletion of its topic when it was made anew. */
  firstQueueOffset: number;
  firstPhysical: number;
  /** Queue offset after the last one, in the log's order: a topic made anew after its deletion begins at 0 again. */
  nextOffset: number;
  lastPhysical: number;
}

interface DispatchedQueue {
  readonly topic: string;
  readonly queueId: number;
  readonly maxOffset: number;
  readonly lastPhysical: number;
}

/** Which queue offsets the records of a stretch of the log have, so that a start knows the queues' ends before it dispatches. */
export class QueueEnds {
  readonly #ends = new Map<string, Map<number, QueueEnd>>();
  readonly #topics = new TopicCache();

  /** For recoverLog, which has checked the record's lengths. Records that cannot be dispatched count for no queue. */
  readonly visit: RecordVisitor = (buffer, offset, _size, physicalOffset) => {
    const sysFlag = buffer.readInt32BE(offset + SYS_FLAG_AT);
    if (!isQueued(sysFlag)) return;
    const bodyAt = offset + bodySizeAt(sysFlag);
    const topicAt = bodyAt + 5 + buffer.readInt32BE(bodyAt);
    const topic = this.#topics.get(buffer, topicAt, topicAt + buffer.readUInt8(topicAt - 1));
    const queueId = buffer.readInt32BE(offset + QUEUE_ID_AT);
    const queueOffset = readInt64(buffer, offset + QUEUE_OFFSET_AT);
    if (topic === undefined || !isQueuePlace(queueId, queueOffset)) return;
    const end = this.get(topic, queueId);
    if (end !== undefined && queueOffset >= end.nextOffset) {
      end.nextOffset = queueOffset + 1;
      end.lastPhysical = physicalOffset;
      return;
    }
    this.#put({
      topic,
      queueId,
      firstQueueOffset: queueOffset,
      firstPhysical: physicalOffset,
      nextOffset: queueOffset + 1,
      lastPhysical: physicalOffset,
    });
  };

  get(topic: string, queueId: number): QueueEnd | undefined {
    return this.#ends.get(topic)?.get(queueId);
  }

  *all(): IterableIterator<QueueEnd> {
    for (const queues of this.#ends.values()) yield* queues.values();
  }

  /**
   * Physical offset from which on records are missing in queues that exist, or undefined when none is. A queue without a folder does
   * not count: its topic was deleted.
   */
  missingFrom(dispatched: readonly DispatchedQueue[], physicalMin: number): number | undefined {
    let from: number | undefined;
    for (const queue of dispatched) {
      const end = this.get(queue.topic, queue.queueId);
      if (end === undefined) continue;
      const stale = isStale(queue, end);
      if (queue.maxOffset >= end.nextOffset && !stale) continue;
      const next =
        stale || queue.maxOffset === end.firstQueueOffset
          ? end.firstPhysical
          : Math.max(physicalMin, queue.lastPhysical);
      from = Math.min(from ?? next, next);
    }
    return from;
  }

  /** Takes in what the stretch right before this one tells. */
  addEarlier(earlier: QueueEnds): void {
    for (const before of earlier.all()) {
      const end = this.get(before.topic, before.queueId);
      if (end === undefined) {
        this.#put(before);
      } else if (end.firstQueueOffset >= before.nextOffset) {
        end.firstQueueOffset = before.firstQueueOffset;
        end.firstPhysical = before.firstPhysical;
      }
    }
  }

  #put(end: QueueEnd): void {
    let queues = this.#ends.get(end.topic);
    if (queues === undefined) {
      queues = new Map();
      this.#ends.set(end.topic, queues);
    }
    queues.set(end.queueId, end);
  }
}

/** All that is dispatched of the queue is of its topic before that was deleted and made anew. */
export function isStale(dispatched: DispatchedQueue, end: QueueEnd): boolean {
  return dispatched.maxOffset > end.firstQueueOffset && dispatched.lastPhysical <= end.firstPhysical;
}
