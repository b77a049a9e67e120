/**
 * UPDATE_AND_CREATE_ACL_CONFIG (50), admin->broker.
 *
 *   request (4.9: CreateAccessConfigRequestHeader)
 *     accessKey           string   required
 *     secretKey           string   optional
 *     whiteRemoteAddress  string   optional
 *     admin               boolean  default false
 *     defaultTopicPerm    string   optional
 *     defaultGroupPerm    string   optional
 *     topicPerms          string   optional
 *     groupPerms          string   optional
 */
import { header, optionalString, primitiveBoolean, string, type HeaderOf } from './header.js';

const request = header('CreateAccessConfigRequestHeader', {
  accessKey: string,
  secretKey: optionalString,
  whiteRemoteAddress: optionalString,
  admin: primitiveBoolean,
  defaultTopicPerm: optionalString,
  defaultGroupPerm: optionalString,
  topicPerms: optionalString,
  groupPerms: optionalString,
});

export type UpdateAndCreateAclConfigRequestHeader = HeaderOf<typeof request>;
export const decodeUpdateAndCreateAclConfig = request.decode;
export const encodeUpdateAndCreateAclConfig = request.encode;
