/**
 * GET_BROKER_CONFIG (26), admin->broker.
 *
 *   response (4.9: GetBrokerConfigResponseHeader)
 *     version  string   required
 *   response body: Java properties text, UTF-8
 */
import { header, string, type HeaderOf } from './header.js';

const response = header('GetBrokerConfigResponseHeader', {
  version: string,
});

export type GetBrokerConfigResponseHeader = HeaderOf<typeof response>;
export const decodeGetBrokerConfigResponse = response.decode;
export const encodeGetBrokerConfigResponse = response.encode;
