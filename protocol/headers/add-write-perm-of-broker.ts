/**
 * ADD_WRITE_PERM_OF_BROKER (327), admin->namesrv.
 *
 *   request (4.9: AddWritePermOfBrokerRequestHeader)
 *     brokerName  string   required
 *   response (4.9: AddWritePermOfBrokerResponseHeader)
 *     addTopicCount  int32    required
 */
import { header, int, string, type HeaderOf } from './header.js';

const request = header('namesrv.AddWritePermOfBrokerRequestHeader', {
  brokerName: string,
});

export type AddWritePermOfBrokerRequestHeader = HeaderOf<typeof request>;
export const decodeAddWritePermOfBroker = request.decode;
export const encodeAddWritePermOfBroker = request.encode;

const response = header('namesrv.AddWritePermOfBrokerResponseHeader', {
  addTopicCount: int,
});

export type AddWritePermOfBrokerResponseHeader = HeaderOf<typeof response>;
export const decodeAddWritePermOfBrokerResponse = response.decode;
export const encodeAddWritePermOfBrokerResponse = response.encode;
