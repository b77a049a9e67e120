/**
 * REGISTER_BROKER (103), broker->namesrv.
 *
 *   request (4.9: RegisterBrokerRequestHeader)
 *     brokerName    string   required
 *     brokerAddr    string   required
 *     clusterName   string   required
 *     haServerAddr  string   required
 *     brokerId      int64    required
 *     compressed    boolean  default false
 *     bodyCrc32     int32    default 0
 *   response (4.9: RegisterBrokerResponseHeader)
 *     haServerAddr  string   optional
 *     masterAddr    string   optional
 *   request body: RegisterBrokerBody: JSON, or deflate-compressed binary records when compressed=true
 *   response body: KVTable JSON (order topic config)
 */
import { header, long, optionalString, primitiveBoolean, primitiveInt, string, type HeaderOf } from './header.js';

const request = header('namesrv.RegisterBrokerRequestHeader', {
  brokerName: string,
  brokerAddr: string,
  clusterName: string,
  haServerAddr: string,
  brokerId: long,
  compressed: primitiveBoolean,
  bodyCrc32: primitiveInt,
});

export type RegisterBrokerRequestHeader = HeaderOf<typeof request>;
export const decodeRegisterBroker = request.decode;
export const encodeRegisterBroker = request.encode;

const response = header('namesrv.RegisterBrokerResponseHeader', {
  haServerAddr: optionalString,
  masterAddr: optionalString,
});

export type RegisterBrokerResponseHeader = HeaderOf<typeof response>;
export const decodeRegisterBrokerResponse = response.decode;
export const encodeRegisterBrokerResponse = response.encode;
