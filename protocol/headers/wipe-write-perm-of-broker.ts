/**
 * WIPE_WRITE_PERM_OF_BROKER (205), admin->namesrv.
 *
 *   request (4.9: WipeWritePermOfBrokerRequestHeader)
 *     brokerName  string   required
 *   response (4.9: WipeWritePermOfBrokerResponseHeader)
 *     wipeTopicCount  int32    required
 */
import { header, int, string, type HeaderOf } from './header.js';

const request = header('namesrv.WipeWritePermOfBrokerRequestHeader', {
  brokerName: string,
});

export type WipeWritePermOfBrokerRequestHeader = HeaderOf<typeof request>;
export const decodeWipeWritePermOfBroker = request.decode;
export const encodeWipeWritePermOfBroker = request.encode;

const response = header('namesrv.WipeWritePermOfBrokerResponseHeader', {
  wipeTopicCount: int,
});

export type WipeWritePermOfBrokerResponseHeader = HeaderOf<typeof response>;
export const decodeWipeWritePermOfBrokerResponse = response.decode;
export const encodeWipeWritePermOfBrokerResponse = response.encode;
