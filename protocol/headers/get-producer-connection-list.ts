/**
 * GET_PRODUCER_CONNECTION_LIST (204), admin->broker.
 *
 *   request (4.9: GetProducerConnectionListRequestHeader)
 *     producerGroup  string   required
 *   response body: ProducerConnection JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('GetProducerConnectionListRequestHeader', {
  producerGroup: string,
});

export type GetProducerConnectionListRequestHeader = HeaderOf<typeof request>;
export const decodeGetProducerConnectionList = request.decode;
export const encodeGetProducerConnectionList = request.encode;
