/**
 * DELETE_ACL_CONFIG (51), admin->broker.
 *
 *   request (4.9: DeleteAccessConfigRequestHeader)
 *     accessKey  string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('DeleteAccessConfigRequestHeader', {
  accessKey: string,
});

export type DeleteAclConfigRequestHeader = HeaderOf<typeof request>;
export const decodeDeleteAclConfig = request.decode;
export const encodeDeleteAclConfig = request.encode;
