/**
 * PUT_KV_CONFIG (100), admin->namesrv.
 *
 *   request (4.9: PutKVConfigRequestHeader)
 *     namespace  string   required
 *     key        string   required
 *     value      string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('namesrv.PutKVConfigRequestHeader', {
  namespace: string,
  key: string,
  value: string,
});

export type PutKvConfigRequestHeader = HeaderOf<typeof request>;
export const decodePutKvConfig = request.decode;
export const encodePutKvConfig = request.encode;
