/**
 * SEND_REPLY_MESSAGE_V2 (325), client->broker: SEND_REPLY_MESSAGE with the one-letter header of SEND_MESSAGE_V2.
 *
 *   request body: reply body bytes
 *   response: as SEND_MESSAGE
 */
export type { SendMessageRequestHeader as SendReplyMessageV2RequestHeader } from './send-message.js';
export { decodeSendMessageV2 as decodeSendReplyMessageV2 } from './send-message-v2.js';
export { encodeSendMessageV2 as encodeSendReplyMessageV2 } from './send-message-v2.js';
export { encodeSendMessageResponse as encodeSendReplyMessageV2Response } from './send-message.js';
export { decodeSendMessageResponse as decodeSendReplyMessageV2Response } from './send-message.js';
