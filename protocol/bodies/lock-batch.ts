/** Bodies of LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42). 4.9: LockBatchRequestBody, LockBatchResponseBody, UnlockBatchRequestBody. */
import { writeJson } from './json-write.js';
import { messageQueueBean, readMessageQueue, type MessageQueue } from './message-queue.js';
import { bodyObject, list, text } from './shape.js';

/** The same for lock and unlock. */
export interface LockBatchRequestBody {
  readonly consumerGroup: string;
  readonly clientId: string;
  readonly mqSet: readonly MessageQueue[];
}

export interface LockBatchResponseBody {
  readonly lockOKMQSet: readonly MessageQueue[];
}

export function encodeLockBatchRequestBody({ consumerGroup, clientId, mqSet }: LockBatchRequestBody): Buffer {
  return writeJson({ clientId, consumerGroup, mqSet: mqSet.map(messageQueueBean) });
}

export function decodeLockBatchRequestBody(body: string | Uint8Array): LockBatchRequestBody {
  const object = bodyObject(body, 'LockBatchRequestBody');
  return {
    consumerGroup: text(object, 'consumerGroup'),
    clientId: text(object, 'clientId'),
    mqSet: list(object, 'mqSet', readMessageQueue),
  };
}

export function encodeLockBatchResponseBody({ lockOKMQSet }: LockBatchResponseBody): Buffer {
  return writeJson({ lockOKMQSet: lockOKMQSet.map(messageQueueBean) });
}

export function decodeLockBatchResponseBody(body: string | Uint8Array): LockBatchResponseBody {
  return { lockOKMQSet: list(bodyObject(body, 'LockBatchResponseBody'), 'lockOKMQSet', readMessageQueue) };
}
