/**
 * CLONE_GROUP_OFFSET (314), admin->broker.
 *
 *   request (4.9: CloneGroupOffsetRequestHeader)
 *     srcGroup   string   required
 *     destGroup  string   required
 *     topic      string   optional
 *     offline    boolean  default false
 */
import { header, optionalString, primitiveBoolean, string, type HeaderOf } from './header.js';

const request = header('CloneGroupOffsetRequestHeader', {
  srcGroup: string,
  destGroup: string,
  topic: optionalString,
  offline: primitiveBoolean,
});

export type CloneGroupOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeCloneGroupOffset = request.decode;
export const encodeCloneGroupOffset = request.encode;
