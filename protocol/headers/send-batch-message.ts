/**
 * SEND_BATCH_MESSAGE (320), client->broker: the header of SEND_MESSAGE_V2 with m=true.
 *
 *   request body: inner records, see message/batch.ts
 *   response: as SEND_MESSAGE, msgId holding one id per message, joined by commas
 */
export type { SendMessageRequestHeader as SendBatchMessageRequestHeader } from './send-message.js';
export type { SendMessageResponseHeader as SendBatchMessageResponseHeader } from './send-message.js';
export { decodeSendMessageV2 as decodeSendBatchMessage } from './send-message-v2.js';
export { encodeSendMessageV2 as encodeSendBatchMessage } from './send-message-v2.js';
export { decodeSendMessageResponse as decodeSendBatchMessageResponse } from './send-message.js';
export { encodeSendMessageResponse as encodeSendBatchMessageResponse } from './send-message.js';
