/** Subscription groups: bodies of 200 and 201, and `config/subscriptionGroup.json`. 4.9: SubscriptionGroupWrapper. */
import type { JsonValue } from './json.js';
import { writeJson, type WritableBean } from './json-write.js';
import { asObject, bodyObject, table, text, textKey, truth, whole } from './shape.js';
import { dataVersionBean, readDataVersion, type DataVersion } from './topic-config.js';

export interface SubscriptionGroupConfig {
  readonly groupName: string;
  readonly consumeEnable: boolean;
  readonly consumeFromMinEnable: boolean;
  readonly consumeBroadcastEnable: boolean;
  readonly retryQueueNums: number;
  readonly retryMaxTimes: number;
  readonly brokerId: number;
  readonly whichBrokerWhenConsumeSlowly: number;
  readonly notifyConsumerIdsChangedEnable: boolean;
}

export interface SubscriptionGroupWrapper {
  readonly subscriptionGroupTable: ReadonlyMap<string, SubscriptionGroupConfig>;
  readonly dataVersion: DataVersion;
}

/** A group as 4.9 creates it on first use. */
export function defaultSubscriptionGroup(groupName: string): SubscriptionGroupConfig {
  return {
    groupName,
    consumeEnable: true,
    consumeFromMinEnable: true,
    consumeBroadcastEnable: true,
    retryQueueNums: 1,
    retryMaxTimes: 16,
    brokerId: 0,
    whichBrokerWhenConsumeSlowly: 1,
    notifyConsumerIdsChangedEnable: true,
  };
}

export function subscriptionGroupBean(config: SubscriptionGroupConfig): WritableBean {
  return {
    brokerId: config.brokerId,
    consumeBroadcastEnable: config.consumeBroadcastEnable,
    consumeEnable: config.consumeEnable,
    consumeFromMinEnable: config.consumeFromMinEnable,
    groupName: config.groupName,
    notifyConsumerIdsChangedEnable: config.notifyConsumerIdsChangedEnable,
    retryMaxTimes: config.retryMaxTimes,
    retryQueueNums: config.retryQueueNums,
    whichBrokerWhenConsumeSlowly: config.whichBrokerWhenConsumeSlowly,
  };
}

export function readSubscriptionGroup(value: JsonValue): SubscriptionGroupConfig {
  const object = asObject(value, 'subscription group');
  const standard = defaultSubscriptionGroup(text(object, 'groupName'));
  return {
    groupName: standard.groupName,
    consumeEnable: truth(object, 'consumeEnable', standard.consumeEnable),
    consumeFromMinEnable: truth(object, 'consumeFromMinEnable', standard.consumeFromMinEnable),
    consumeBroadcastEnable: truth(object, 'consumeBroadcastEnable', standard.consumeBroadcastEnable),
    retryQueueNums: whole(object, 'retryQueueNums', standard.retryQueueNums),
    retryMaxTimes: whole(object, 'retryMaxTimes', standard.retryMaxTimes),
    brokerId: whole(object, 'brokerId', standard.brokerId),
    whichBrokerWhenConsumeSlowly: whole(object, 'whichBrokerWhenConsumeSlowly', standard.whichBrokerWhenConsumeSlowly),
    notifyConsumerIdsChangedEnable: truth(
      object,
      'notifyConsumerIdsChangedEnable',
      standard.notifyConsumerIdsChangedEnable,
    ),
  };
}

export function encodeSubscriptionGroupConfig(config: SubscriptionGroupConfig): Buffer {
  return writeJson(subscriptionGroupBean(config));
}

export function decodeSubscriptionGroupConfig(body: string | Uint8Array): SubscriptionGroupConfig {
  return readSubscriptionGroup(bodyObject(body, 'SubscriptionGroupConfig'));
}

export function encodeSubscriptionGroupWrapper(wrapper: SubscriptionGroupWrapper): Buffer {
  return writeJson({
    dataVersion: dataVersionBean(wrapper.dataVersion),
    subscriptionGroupTable: new Map(
      [...wrapper.subscriptionGroupTable].map(([group, config]) => [group, subscriptionGroupBean(config)]),
    ),
  });
}

export function decodeSubscriptionGroupWrapper(body: string | Uint8Array): SubscriptionGroupWrapper {
  const object = bodyObject(body, 'SubscriptionGroupWrapper');
  return {
    subscriptionGroupTable: table(object, 'subscriptionGroupTable', textKey, readSubscriptionGroup),
    dataVersion: readDataVersion(object['dataVersion']),
  };
}
