/** Body of GET_BROKER_CLUSTER_ACL_CONFIG (54). 4.9: GetBrokerClusterAclConfigResponseBody. */
import type { JsonValue } from './json.js';
import { writeJson } from './json-write.js';
import { asObject, bodyObject, list, optionalText, textValue, truth } from './shape.js';

export interface PlainAccessConfig {
  readonly accessKey?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly whiteRemoteAddress?: string | undefined;
  readonly admin: boolean;
  readonly defaultTopicPerm?: string | undefined;
  readonly defaultGroupPerm?: string | undefined;
  /** `topic=PUB|SUB` and so on. */
  readonly topicPerms?: readonly string[] | undefined;
  readonly groupPerms?: readonly string[] | undefined;
}

export interface AclConfig {
  readonly globalWhiteAddrs: readonly string[];
  readonly plainAccessConfigs: readonly PlainAccessConfig[];
}

function readAccess(value: JsonValue): PlainAccessConfig {
  const object = asObject(value, 'plainAccessConfigs');
  const listOf = (name: string): string[] | undefined =>
    object[name] === undefined || object[name] === null ? undefined : list(object, name, textValue);
  return {
    accessKey: optionalText(object, 'accessKey'),
    secretKey: optionalText(object, 'secretKey'),
    whiteRemoteAddress: optionalText(object, 'whiteRemoteAddress'),
    admin: truth(object, 'admin', false),
    defaultTopicPerm: optionalText(object, 'defaultTopicPerm'),
    defaultGroupPerm: optionalText(object, 'defaultGroupPerm'),
    topicPerms: listOf('topicPerms'),
    groupPerms: listOf('groupPerms'),
  };
}

export function encodeAclConfig({ globalWhiteAddrs, plainAccessConfigs }: AclConfig): Buffer {
  return writeJson({ globalWhiteAddrs, plainAccessConfigs: plainAccessConfigs.map((access) => ({ ...access })) });
}

export function decodeAclConfig(body: string | Uint8Array): AclConfig {
  const object = bodyObject(body, 'AclConfig');
  return {
    globalWhiteAddrs: list(object, 'globalWhiteAddrs', textValue),
    plainAccessConfigs: list(object, 'plainAccessConfigs', readAccess),
  };
}
