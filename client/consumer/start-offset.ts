import { isRetryTopic } from '../../protocol/message/names.js';
import type { ClientCore } from '../transport/client-core.js';
import type { MessageQueue } from '../transport/message-queue.js';
import { maxOffset, minOffset, searchOffset } from '../transport/queue-offsets.js';
import type { OffsetStore } from './offset-store.js';

/**
 * Where a group begins in a queue that it never consumed: after the newest message, at the oldest, or at the first one
 * stored at a time (milliseconds since the epoch, or a Date).
 */
export type ConsumeFrom = 'last' | 'first' | number | Date;

/** The name of 4.9 for heartbeats. */
export function consumeFromName(from: ConsumeFrom): string {
  if (from === 'last') return 'CONSUME_FROM_LAST_OFFSET';
  return from === 'first' ? 'CONSUME_FROM_FIRST_OFFSET' : 'CONSUME_FROM_TIMESTAMP';
}

/** Where to begin with a queue. Rejects when that is not known for sure; the queue must then not be started. */
export async function startOffset(
  core: ClientCore,
  offsets: OffsetStore,
  queue: MessageQueue,
  from: ConsumeFrom,
): Promise<number> {
  const stored = await offsets.read(queue);
  if (stored !== undefined) return stored;
  // What waits in the retry topic is the group's own, whatever it wants of other topics.
  if (from === 'first' || isRetryTopic(queue.topic)) return minOffset(core, queue);
  if (from === 'last') return maxOffset(core, queue);
  return searchOffset(core, queue, from instanceof Date ? from.getTime() : from);
}
