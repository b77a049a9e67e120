/**
 * END_TRANSACTION (37), client->broker.
 *
 *   request (4.9: EndTransactionRequestHeader)
 *     producerGroup         string   required
 *     tranStateTableOffset  int64    required
 *     commitLogOffset       int64    required
 *     commitOrRollback      int32    required
 *     fromTransactionCheck  boolean  default false
 *     msgId                 string   required
 *     transactionId         string   optional
 *     bname                 string   optional
 */
import { int, long, optionalString, primitiveBoolean, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('EndTransactionRequestHeader', {
  producerGroup: string,
  tranStateTableOffset: long,
  commitLogOffset: long,
  commitOrRollback: int,
  fromTransactionCheck: primitiveBoolean,
  msgId: string,
  transactionId: optionalString,
});

export type EndTransactionRequestHeader = HeaderOf<typeof request>;
export const decodeEndTransaction = request.decode;
export const encodeEndTransaction = request.encode;
