/**
 * GET_KVLIST_BY_NAMESPACE (219), admin->namesrv.
 *
 *   request (4.9: GetKVListByNamespaceRequestHeader)
 *     namespace  string   required
 *   response body: KVTable JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('namesrv.GetKVListByNamespaceRequestHeader', {
  namespace: string,
});

export type GetKvlistByNamespaceRequestHeader = HeaderOf<typeof request>;
export const decodeGetKvlistByNamespace = request.decode;
export const encodeGetKvlistByNamespace = request.encode;
