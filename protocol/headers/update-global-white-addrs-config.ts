/**
 * UPDATE_GLOBAL_WHITE_ADDRS_CONFIG (53), admin->broker.
 *
 *   request (4.9: UpdateGlobalWhiteAddrsConfigRequestHeader)
 *     globalWhiteAddrs  string   required
 *     aclFileFullPath   string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('UpdateGlobalWhiteAddrsConfigRequestHeader', {
  globalWhiteAddrs: string,
  aclFileFullPath: string,
});

export type UpdateGlobalWhiteAddrsConfigRequestHeader = HeaderOf<typeof request>;
export const decodeUpdateGlobalWhiteAddrsConfig = request.decode;
export const encodeUpdateGlobalWhiteAddrsConfig = request.encode;
