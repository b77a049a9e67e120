/** Topic table, the body of GET_ALL_TOPIC_CONFIG (21) and of `config/topics.json`. 4.9: TopicConfigSerializeWrapper. */
import { Perm } from '../codes.js';
import { writeJson, type WritableBean } from './json-write.js';
import { asObject, bodyObject, oneOf, table, text, textKey, truth, whole } from './shape.js';
import type { JsonObject, JsonValue } from './json.js';

/** Tells whether a table changed: equal in both numbers means the same content. 4.9: DataVersion. */
export interface DataVersion {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly counter: number;
}

export type TopicFilterType = 'SINGLE_TAG' | 'MULTI_TAG';
const filterTypes = ['SINGLE_TAG', 'MULTI_TAG'] as const;

export interface TopicConfig {
  readonly topicName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  /** Bits of Perm. */
  readonly perm: number;
  readonly topicFilterType: TopicFilterType;
  readonly topicSysFlag: number;
  readonly order: boolean;
}

export interface TopicConfigSerializeWrapper {
  readonly topicConfigTable: ReadonlyMap<string, TopicConfig>;
  readonly dataVersion: DataVersion;
}

export function dataVersionBean(version: DataVersion): WritableBean {
  return { counter: version.counter, timestamp: version.timestamp };
}

export function readDataVersion(value: JsonValue | undefined): DataVersion {
  if (value === undefined || value === null) return { timestamp: 0, counter: 0 };
  const object = asObject(value, 'dataVersion');
  return { timestamp: whole(object, 'timestamp', 0), counter: whole(object, 'counter', 0) };
}

export function encodeDataVersion(version: DataVersion): Buffer {
  return writeJson(dataVersionBean(version));
}

export function decodeDataVersion(body: string | Uint8Array): DataVersion {
  return readDataVersion(bodyObject(body, 'DataVersion'));
}

export function topicConfigBean(config: TopicConfig): WritableBean {
  const { topicName, readQueueNums, writeQueueNums, perm, topicFilterType, topicSysFlag, order } = config;
  return { topicName, readQueueNums, writeQueueNums, perm, topicFilterType, topicSysFlag, order };
}

export function readTopicConfig(value: JsonValue): TopicConfig {
  const object = asObject(value, 'topic config');
  return {
    topicName: text(object, 'topicName'),
    readQueueNums: whole(object, 'readQueueNums', 16),
    writeQueueNums: whole(object, 'writeQueueNums', 16),
    perm: whole(object, 'perm', Perm.READ | Perm.WRITE),
    topicFilterType: oneOf(object, 'topicFilterType', filterTypes, 'SINGLE_TAG'),
    topicSysFlag: whole(object, 'topicSysFlag', 0),
    order: truth(object, 'order', false),
  };
}

export function topicConfigWrapperBean(wrapper: TopicConfigSerializeWrapper): WritableBean {
  return {
    dataVersion: dataVersionBean(wrapper.dataVersion),
    topicConfigTable: new Map([...wrapper.topicConfigTable].map(([topic, config]) => [topic, topicConfigBean(config)])),
  };
}

export function readTopicConfigWrapper(object: JsonObject): TopicConfigSerializeWrapper {
  return {
    topicConfigTable: table(object, 'topicConfigTable', textKey, readTopicConfig),
    dataVersion: readDataVersion(object['dataVersion']),
  };
}

export function encodeTopicConfigSerializeWrapper(wrapper: TopicConfigSerializeWrapper): Buffer {
  return writeJson(topicConfigWrapperBean(wrapper));
}

export function decodeTopicConfigSerializeWrapper(body: string | Uint8Array): TopicConfigSerializeWrapper {
  return readTopicConfigWrapper(bodyObject(body, 'TopicConfigSerializeWrapper'));
}
