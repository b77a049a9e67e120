/**
 * SEND_REPLY_MESSAGE (324), client->broker: the answer of a request-reply call, with the header of SEND_MESSAGE.
 *
 *   request body: reply body bytes
 *   response: as SEND_MESSAGE
 */
export type { SendMessageRequestHeader as SendReplyMessageRequestHeader } from './send-message.js';
export { decodeSendMessage as decodeSendReplyMessage } from './send-message.js';
export { encodeSendMessage as encodeSendReplyMessage } from './send-message.js';
export { encodeSendMessageResponse as encodeSendReplyMessageResponse } from './send-message.js';
export { decodeSendMessageResponse as decodeSendReplyMessageResponse } from './send-message.js';
