/** Body of QUERY_TOPIC_CONSUME_BY_WHO (300). 4.9: GroupList. */
import { writeJson } from './json-write.js';
import { bodyObject, list, textValue } from './shape.js';

export interface GroupList {
  readonly groupList: readonly string[];
}

export function encodeGroupList({ groupList }: GroupList): Buffer {
  return writeJson({ groupList });
}

export function decodeGroupList(body: string | Uint8Array): GroupList {
  return { groupList: list(bodyObject(body, 'GroupList'), 'groupList', textValue) };
}
