/**
 * VIEW_MESSAGE_BY_ID (33), client/admin->broker.
 *
 *   request (4.9: ViewMessageRequestHeader)
 *     offset  int64    required
 *   response body: one stored message record
 */
import { header, long, type HeaderOf } from './header.js';

const request = header('ViewMessageRequestHeader', {
  offset: long,
});

export type ViewMessageByIdRequestHeader = HeaderOf<typeof request>;
export const decodeViewMessageById = request.decode;
export const encodeViewMessageById = request.encode;
