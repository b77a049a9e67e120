/** Body of GET_CONSUMER_LIST_BY_GROUP (38): the client ids of a group. 4.9: GetConsumerListByGroupResponseBody. */
import { writeJson } from './json-write.js';
import { bodyObject, list, textValue } from './shape.js';

export interface ConsumerList {
  readonly consumerIdList: readonly string[];
}

export function encodeConsumerList({ consumerIdList }: ConsumerList): Buffer {
  return writeJson({ consumerIdList });
}

export function decodeConsumerList(body: string | Uint8Array): ConsumerList {
  return { consumerIdList: list(bodyObject(body, 'consumer list'), 'consumerIdList', textValue) };
}
