/** Bytes that are no command of this protocol. Ends the connection they came on, nothing else. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
