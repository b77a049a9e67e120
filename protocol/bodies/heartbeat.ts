/** Body of HEART_BEAT (34). 4.9: HeartbeatData. */
import type { JsonValue } from './json.js';
import { writeJson, type WritableBean } from './json-write.js';
import { asObject, bodyObject, list, oneOf, text, textValue, truth, whole, wholeValue } from './shape.js';

export type ConsumeType = 'CONSUME_ACTIVELY' | 'CONSUME_PASSIVELY';
export const consumeTypes = ['CONSUME_ACTIVELY', 'CONSUME_PASSIVELY'] as const;
export type MessageModel = 'BROADCASTING' | 'CLUSTERING';
export const messageModels = ['BROADCASTING', 'CLUSTERING'] as const;

export interface SubscriptionData {
  readonly topic: string;
  /** The expression; `*` is everything. */
  readonly subString: string;
  readonly tagsSet: readonly string[];
  /** Java hash codes of the tags. */
  readonly codeSet: readonly number[];
  /** Milliseconds since the epoch at which the client subscribed; a larger one replaces a smaller one. */
  readonly subVersion: number;
  /** TAG, SQL92, … */
  readonly expressionType: string;
  readonly classFilterMode: boolean;
}

export interface ProducerData {
  readonly groupName: string;
}

export interface ConsumerData {
  readonly groupName: string;
  readonly consumeType: ConsumeType;
  readonly messageModel: MessageModel;
  readonly consumeFromWhere: string;
  readonly subscriptionDataSet: readonly SubscriptionData[];
  readonly unitMode: boolean;
}

export interface HeartbeatData {
  readonly clientID: string;
  readonly producerDataSet: readonly ProducerData[];
  readonly consumerDataSet: readonly ConsumerData[];
}

export function subscriptionBean(data: SubscriptionData): WritableBean {
  const { topic, subString, tagsSet, codeSet, subVersion, expressionType, classFilterMode } = data;
  return { topic, subString, tagsSet, codeSet, subVersion, expressionType, classFilterMode };
}

export function readSubscription(value: JsonValue): SubscriptionData {
  const object = asObject(value, 'subscription');
  return {
    topic: text(object, 'topic'),
    subString: text(object, 'subString', '*'),
    tagsSet: list(object, 'tagsSet', textValue),
    codeSet: list(object, 'codeSet', wholeValue),
    subVersion: whole(object, 'subVersion', 0),
    expressionType: text(object, 'expressionType', 'TAG'),
    classFilterMode: truth(object, 'classFilterMode', false),
  };
}

function consumerBean(data: ConsumerData): WritableBean {
  return {
    consumeFromWhere: data.consumeFromWhere,
    consumeType: data.consumeType,
    groupName: data.groupName,
    messageModel: data.messageModel,
    subscriptionDataSet: data.subscriptionDataSet.map(subscriptionBean),
    unitMode: data.unitMode,
  };
}

function readConsumer(value: JsonValue): ConsumerData {
  const object = asObject(value, 'consumerDataSet');
  return {
    groupName: text(object, 'groupName'),
    consumeType: oneOf(object, 'consumeType', consumeTypes),
    messageModel: oneOf(object, 'messageModel', messageModels),
    consumeFromWhere: text(object, 'consumeFromWhere', 'CONSUME_FROM_LAST_OFFSET'),
    subscriptionDataSet: list(object, 'subscriptionDataSet', readSubscription),
    unitMode: truth(object, 'unitMode', false),
  };
}

export function encodeHeartbeat(data: HeartbeatData): Buffer {
  return writeJson({
    clientID: data.clientID,
    consumerDataSet: data.consumerDataSet.map(consumerBean),
    producerDataSet: data.producerDataSet.map(({ groupName }) => ({ groupName })),
  });
}

export function decodeHeartbeat(body: string | Uint8Array): HeartbeatData {
  const object = bodyObject(body, 'HeartbeatData');
  return {
    clientID: text(object, 'clientID'),
    producerDataSet: list(object, 'producerDataSet', (value) => ({
      groupName: text(asObject(value, 'producerDataSet'), 'groupName'),
    })),
    consumerDataSet: list(object, 'consumerDataSet', readConsumer),
  };
}
