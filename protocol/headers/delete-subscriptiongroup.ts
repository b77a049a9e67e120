/**
 * DELETE_SUBSCRIPTIONGROUP (207), admin->broker.
 *
 *   request (4.9: DeleteSubscriptionGroupRequestHeader)
 *     groupName     string   required
 *     removeOffset  boolean  default false
 */
import { header, primitiveBoolean, string, type HeaderOf } from './header.js';

const request = header('DeleteSubscriptionGroupRequestHeader', {
  groupName: string,
  removeOffset: primitiveBoolean,
});

export type DeleteSubscriptiongroupRequestHeader = HeaderOf<typeof request>;
export const decodeDeleteSubscriptiongroup = request.decode;
export const encodeDeleteSubscriptiongroup = request.encode;
