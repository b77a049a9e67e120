/**
 * QUERY_CORRECTION_OFFSET (308), admin->broker.
 *
 *   request (4.9: QueryCorrectionOffsetHeader)
 *     filterGroups  string   optional
 *     compareGroup  string   required
 *     topic         string   required
 *   response body: QueryCorrectionOffsetBody JSON
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('QueryCorrectionOffsetHeader', {
  filterGroups: optionalString,
  compareGroup: string,
  topic: string,
});

export type QueryCorrectionOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeQueryCorrectionOffset = request.decode;
export const encodeQueryCorrectionOffset = request.encode;
