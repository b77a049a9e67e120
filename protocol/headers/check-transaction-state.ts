/**
 * CHECK_TRANSACTION_STATE (39), broker->client (oneway).
 *
 *   request (4.9: CheckTransactionStateRequestHeader)
 *     tranStateTableOffset  int64    required
 *     commitLogOffset       int64    required
 *     msgId                 string   optional
 *     transactionId         string   optional
 *     offsetMsgId           string   optional
 *     bname                 string   optional
 *   request body: one stored half message record
 */
import { long, optionalString, rpcHeader, type HeaderOf } from './header.js';

const request = rpcHeader('CheckTransactionStateRequestHeader', {
  tranStateTableOffset: long,
  commitLogOffset: long,
  msgId: optionalString,
  transactionId: optionalString,
  offsetMsgId: optionalString,
});

export type CheckTransactionStateRequestHeader = HeaderOf<typeof request>;
export const decodeCheckTransactionState = request.decode;
export const encodeCheckTransactionState = request.encode;
