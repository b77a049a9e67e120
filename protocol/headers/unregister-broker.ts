/**
 * UNREGISTER_BROKER (104), broker->namesrv.
 *
 *   request (4.9: UnRegisterBrokerRequestHeader)
 *     brokerName   string   required
 *     brokerAddr   string   required
 *     clusterName  string   required
 *     brokerId     int64    required
 */
import { header, long, string, type HeaderOf } from './header.js';

const request = header('namesrv.UnRegisterBrokerRequestHeader', {
  brokerName: string,
  brokerAddr: string,
  clusterName: string,
  brokerId: long,
});

export type UnregisterBrokerRequestHeader = HeaderOf<typeof request>;
export const decodeUnregisterBroker = request.decode;
export const encodeUnregisterBroker = request.encode;
