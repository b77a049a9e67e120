/**
 * GET_BROKER_CLUSTER_ACL_INFO (52), admin->broker.
 *
 *   response (4.9: GetBrokerAclConfigResponseHeader)
 *     version            string   required
 *     allAclFileVersion  string   optional
 *     brokerName         string   required
 *     brokerAddr         string   required
 *     clusterName        string   required
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const response = header('GetBrokerAclConfigResponseHeader', {
  version: string,
  allAclFileVersion: optionalString,
  brokerName: string,
  brokerAddr: string,
  clusterName: string,
});

export type GetBrokerClusterAclInfoResponseHeader = HeaderOf<typeof response>;
export const decodeGetBrokerClusterAclInfoResponse = response.decode;
export const encodeGetBrokerClusterAclInfoResponse = response.encode;
