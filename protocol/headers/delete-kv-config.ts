/**
 * DELETE_KV_CONFIG (102), admin->namesrv.
 *
 *   request (4.9: DeleteKVConfigRequestHeader)
 *     namespace  string   required
 *     key        string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('namesrv.DeleteKVConfigRequestHeader', {
  namespace: string,
  key: string,
});

export type DeleteKvConfigRequestHeader = HeaderOf<typeof request>;
export const decodeDeleteKvConfig = request.decode;
export const encodeDeleteKvConfig = request.encode;
