/** Body of 206, 224, 304, 305 and 311 to 313. 4.9: TopicList. */
import { writeJson } from './json-write.js';
import { bodyObject, list, optionalText, textValue } from './shape.js';

export interface TopicList {
  readonly topicList: readonly string[];
  /** Only in the name server's list of system topics: the address of one of its brokers. */
  readonly brokerAddr?: string | undefined;
}

export function encodeTopicList({ topicList, brokerAddr }: TopicList): Buffer {
  return writeJson({ brokerAddr, topicList });
}

export function decodeTopicList(body: string | Uint8Array): TopicList {
  const object = bodyObject(body, 'TopicList');
  return { topicList: list(object, 'topicList', textValue), brokerAddr: optionalText(object, 'brokerAddr') };
}
