/**
 * QUERY_DATA_VERSION (322), broker->namesrv.
 *
 *   request (4.9: QueryDataVersionRequestHeader)
 *     brokerName   string   required
 *     brokerAddr   string   required
 *     clusterName  string   required
 *     brokerId     int64    required
 *   response (4.9: QueryDataVersionResponseHeader)
 *     changed  boolean  required
 *   request body: DataVersion JSON
 *   response body: DataVersion JSON
 */
import { boolean, header, long, string, type HeaderOf } from './header.js';

const request = header('namesrv.QueryDataVersionRequestHeader', {
  brokerName: string,
  brokerAddr: string,
  clusterName: string,
  brokerId: long,
});

export type QueryDataVersionRequestHeader = HeaderOf<typeof request>;
export const decodeQueryDataVersion = request.decode;
export const encodeQueryDataVersion = request.encode;

const response = header('namesrv.QueryDataVersionResponseHeader', {
  changed: boolean,
});

export type QueryDataVersionResponseHeader = HeaderOf<typeof response>;
export const decodeQueryDataVersionResponse = response.decode;
export const encodeQueryDataVersionResponse = response.encode;
