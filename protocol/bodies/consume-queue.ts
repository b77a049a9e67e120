/** Body of QUERY_CONSUME_QUEUE (321). 4.9: QueryConsumeQueueResponseBody. */
import { readSubscription, subscriptionBean, type SubscriptionData } from './heartbeat.js';
import type { JsonValue } from './json.js';
import { writeJson } from './json-write.js';
import { asObject, bodyObject, list, optionalText, truth, whole } from './shape.js';

export interface ConsumeQueueData {
  readonly physicOffset: number;
  readonly physicSize: number;
  /** A 64-bit number: a hash, or a delivery time. */
  readonly tagsCode: bigint;
  readonly extendDataJson?: string | undefined;
  readonly bitMap?: string | undefined;
  /** Whether the entry passes the group's filter. */
  readonly eval: boolean;
  readonly msg?: string | undefined;
}

export interface QueryConsumeQueueResponseBody {
  readonly subscriptionData?: SubscriptionData | undefined;
  readonly filterData?: string | undefined;
  readonly queueData: readonly ConsumeQueueData[];
  readonly maxQueueIndex: number;
  readonly minQueueIndex: number;
}

function readData(value: JsonValue): ConsumeQueueData {
  const object = asObject(value, 'queueData');
  const tagsCode = object['tagsCode'];
  return {
    physicOffset: whole(object, 'physicOffset', 0),
    physicSize: whole(object, 'physicSize', 0),
    tagsCode: typeof tagsCode === 'bigint' ? tagsCode : BigInt(whole(object, 'tagsCode', 0)),
    extendDataJson: optionalText(object, 'extendDataJson'),
    bitMap: optionalText(object, 'bitMap'),
    eval: truth(object, 'eval', false),
    msg: optionalText(object, 'msg'),
  };
}

export function encodeQueryConsumeQueueResponseBody(body: QueryConsumeQueueResponseBody): Buffer {
  return writeJson({
    filterData: body.filterData,
    maxQueueIndex: body.maxQueueIndex,
    minQueueIndex: body.minQueueIndex,
    queueData: body.queueData.map((data) => ({ ...data })),
    subscriptionData: body.subscriptionData === undefined ? undefined : subscriptionBean(body.subscriptionData),
  });
}

export function decodeQueryConsumeQueueResponseBody(body: string | Uint8Array): QueryConsumeQueueResponseBody {
  const object = bodyObject(body, 'QueryConsumeQueueResponseBody');
  const data = object['subscriptionData'];
  return {
    subscriptionData: data === undefined || data === null ? undefined : readSubscription(data),
    filterData: optionalText(object, 'filterData'),
    queueData: list(object, 'queueData', readData),
    maxQueueIndex: whole(object, 'maxQueueIndex', 0),
    minQueueIndex: whole(object, 'minQueueIndex', 0),
  };
}
