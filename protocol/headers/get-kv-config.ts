/**
 * GET_KV_CONFIG (101), client/admin->namesrv.
 *
 *   request (4.9: GetKVConfigRequestHeader)
 *     namespace  string   required
 *     key        string   required
 *   response (4.9: GetKVConfigResponseHeader)
 *     value  string   optional
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('namesrv.GetKVConfigRequestHeader', {
  namespace: string,
  key: string,
});

export type GetKvConfigRequestHeader = HeaderOf<typeof request>;
export const decodeGetKvConfig = request.decode;
export const encodeGetKvConfig = request.encode;

const response = header('namesrv.GetKVConfigResponseHeader', {
  value: optionalString,
});

export type GetKvConfigResponseHeader = HeaderOf<typeof response>;
export const decodeGetKvConfigResponse = response.decode;
export const encodeGetKvConfigResponse = response.encode;
