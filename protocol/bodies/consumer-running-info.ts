/** Bodies of GET_CONSUMER_RUNNING_INFO (307) and CONSUME_MESSAGE_DIRECTLY (309). 4.9: ConsumerRunningInfo, ConsumeMessageDirectlyResult. */
import { readSubscription, subscriptionBean, type SubscriptionData } from './heartbeat.js';
import type { JsonValue } from './json.js';
import { JavaDouble, writeJson, type WritableBean } from './json-write.js';
import { queueTableMap, readQueueTable, type QueueTable } from './message-queue.js';
import {
  asObject,
  bodyObject,
  list,
  oneOf,
  optionalText,
  real,
  table,
  textKey,
  textValue,
  truth,
  whole,
} from './shape.js';

export interface ProcessQueueInfo {
  readonly commitOffset: number;
  readonly cachedMsgMinOffset: number;
  readonly cachedMsgMaxOffset: number;
  readonly cachedMsgCount: number;
  readonly cachedMsgSizeInMiB: number;
  readonly transactionMsgMinOffset: number;
  readonly transactionMsgMaxOffset: number;
  readonly transactionMsgCount: number;
  readonly locked: boolean;
  readonly tryUnlockTimes: number;
  readonly lastLockTimestamp: number;
  readonly droped: boolean;
  readonly lastPullTimestamp: number;
  readonly lastConsumeTimestamp: number;
}

/** Times in milliseconds, rates per second. */
export interface ConsumeStatus {
  readonly pullRT: number;
  readonly pullTPS: number;
  readonly consumeRT: number;
  readonly consumeOKTPS: number;
  readonly consumeFailedTPS: number;
  readonly consumeFailedMsgs: number;
}

export interface ConsumerRunningInfo {
  readonly properties: ReadonlyMap<string, string>;
  readonly subscriptionSet: readonly SubscriptionData[];
  readonly mqTable: QueueTable<ProcessQueueInfo>;
  /** By topic. */
  readonly statusTable: ReadonlyMap<string, ConsumeStatus>;
  readonly jstack?: string | undefined;
}

export const consumeResults = [
  'CR_SUCCESS',
  'CR_LATER',
  'CR_ROLLBACK',
  'CR_COMMIT',
  'CR_THROW_EXCEPTION',
  'CR_RETURN_NULL',
] as const;

export interface ConsumeMessageDirectlyResult {
  readonly order: boolean;
  readonly autoCommit: boolean;
  readonly consumeResult: (typeof consumeResults)[number];
  readonly remark?: string | undefined;
  readonly spentTimeMills: number;
}

function statusBean(status: ConsumeStatus): WritableBean {
  return {
    pullRT: new JavaDouble(status.pullRT),
    pullTPS: new JavaDouble(status.pullTPS),
    consumeRT: new JavaDouble(status.consumeRT),
    consumeOKTPS: new JavaDouble(status.consumeOKTPS),
    consumeFailedTPS: new JavaDouble(status.consumeFailedTPS),
    consumeFailedMsgs: status.consumeFailedMsgs,
  };
}

function readStatus(value: JsonValue): ConsumeStatus {
  const object = asObject(value, 'statusTable');
  return {
    pullRT: real(object, 'pullRT', 0),
    pullTPS: real(object, 'pullTPS', 0),
    consumeRT: real(object, 'consumeRT', 0),
    consumeOKTPS: real(object, 'consumeOKTPS', 0),
    consumeFailedTPS: real(object, 'consumeFailedTPS', 0),
    consumeFailedMsgs: whole(object, 'consumeFailedMsgs', 0),
  };
}

function readProcessQueue(value: JsonValue): ProcessQueueInfo {
  const object = asObject(value, 'mqTable');
  const number = (name: string): number => whole(object, name, 0);
  return {
    commitOffset: number('commitOffset'),
    cachedMsgMinOffset: number('cachedMsgMinOffset'),
    cachedMsgMaxOffset: number('cachedMsgMaxOffset'),
    cachedMsgCount: number('cachedMsgCount'),
    cachedMsgSizeInMiB: number('cachedMsgSizeInMiB'),
    transactionMsgMinOffset: number('transactionMsgMinOffset'),
    transactionMsgMaxOffset: number('transactionMsgMaxOffset'),
    transactionMsgCount: number('transactionMsgCount'),
    locked: truth(object, 'locked', false),
    tryUnlockTimes: number('tryUnlockTimes'),
    lastLockTimestamp: number('lastLockTimestamp'),
    droped: truth(object, 'droped', false),
    lastPullTimestamp: number('lastPullTimestamp'),
    lastConsumeTimestamp: number('lastConsumeTimestamp'),
  };
}

export function encodeConsumerRunningInfo(info: ConsumerRunningInfo): Buffer {
  return writeJson({
    jstack: info.jstack,
    mqTable: queueTableMap(info.mqTable, (queue) => ({ ...queue })),
    properties: info.properties,
    statusTable: new Map([...info.statusTable].map(([topic, status]) => [topic, statusBean(status)])),
    subscriptionSet: info.subscriptionSet.map(subscriptionBean),
  });
}

export function decodeConsumerRunningInfo(body: string | Uint8Array): ConsumerRunningInfo {
  const object = bodyObject(body, 'ConsumerRunningInfo');
  return {
    properties: table(object, 'properties', textKey, textValue),
    subscriptionSet: list(object, 'subscriptionSet', readSubscription),
    mqTable: readQueueTable(object['mqTable'], 'mqTable', readProcessQueue),
    statusTable: table(object, 'statusTable', textKey, readStatus),
    jstack: optionalText(object, 'jstack'),
  };
}

export function encodeConsumeMessageDirectlyResult(result: ConsumeMessageDirectlyResult): Buffer {
  const { order, autoCommit, consumeResult, remark, spentTimeMills } = result;
  return writeJson({ order, autoCommit, consumeResult, remark, spentTimeMills });
}

export function decodeConsumeMessageDirectlyResult(body: string | Uint8Array): ConsumeMessageDirectlyResult {
  const object = bodyObject(body, 'ConsumeMessageDirectlyResult');
  return {
    order: truth(object, 'order', false),
    autoCommit: truth(object, 'autoCommit', true),
    consumeResult: oneOf(object, 'consumeResult', consumeResults, 'CR_RETURN_NULL'),
    remark: optionalText(object, 'remark'),
    spentTimeMills: whole(object, 'spentTimeMills', 0),
  };
}
