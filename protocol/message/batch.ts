/**
 * Body of SEND_BATCH_MESSAGE (320): inner records that follow each other. 4.9: MessageDecoder#encodeMessages.
 *
 *    0  int32  total size     12  int32  flag
 *    4  int32  magic, 0       16  int32  body size, body
 *    8  int32  body CRC, 0        int16  properties size, properties
 */
import { viewOf } from '../copy.js';
import { ProtocolError } from '../errors.js';
import { PROPERTIES_BYTES_MAX } from './record.js';

const FIXED_BYTES = 22;

/** Walks the inner records of a batch; the fields are those of the record that `next` stepped on. Reused by its owner. */
export class BatchReader {
  flag = 0;
  bodyStart = 0;
  bodyEnd = 0;
  propertiesStart = 0;
  propertiesEnd = 0;
  private view: DataView = new DataView(new ArrayBuffer(0));
  private at = 0;
  private end = 0;

  /** Begins at `view[start, end)`. */
  reset(view: DataView, start: number, end: number): this {
    this.view = view;
    this.at = start;
    this.end = end;
    return this;
  }

  /** False at the end. Throws ProtocolError when a record's sizes do not fit together or pass the body. */
  next(): boolean {
    const { view, at, end } = this;
    if (at === end) return false;
    if (end - at < FIXED_BYTES) throw new ProtocolError(`batch ends with ${end - at} bytes that are no record`);
    const totalBytes = view.getInt32(at);
    const bodyBytes = view.getInt32(at + 16);
    if (totalBytes > end - at) throw new ProtocolError(`batch record of ${totalBytes} bytes passes the body`);
    if (bodyBytes < 0 || bodyBytes > totalBytes - FIXED_BYTES) {
      throw new ProtocolError(`batch record of ${totalBytes} bytes with a body of ${bodyBytes}`);
    }
    this.bodyStart = at + 20;
    this.bodyEnd = this.bodyStart + bodyBytes;
    const propertiesBytes = view.getInt16(this.bodyEnd);
    if (propertiesBytes < 0 || FIXED_BYTES + bodyBytes + propertiesBytes !== totalBytes) {
      throw new ProtocolError(`batch record sizes do not add up to its ${totalBytes} bytes`);
    }
    this.propertiesStart = this.bodyEnd + 2;
    this.propertiesEnd = this.propertiesStart + propertiesBytes;
    this.flag = view.getInt32(at + 12);
    this.at = at + totalBytes;
    return true;
  }
}

export interface BatchMessage {
  readonly flag: number;
  readonly body: Uint8Array;
  /** `name\u0001value\u0002…`. */
  readonly properties: string;
}

/** Number of inner records; throws ProtocolError when the body is broken anywhere. */
export function countBatch(buffer: Buffer, start = 0, end = buffer.length): number {
  const reader = new BatchReader().reset(viewOf(buffer), start, end);
  let count = 0;
  while (reader.next()) count++;
  return count;
}

export function decodeBatch(buffer: Buffer, start = 0, end = buffer.length): BatchMessage[] {
  const reader = new BatchReader().reset(viewOf(buffer), start, end);
  const messages: BatchMessage[] = [];
  while (reader.next()) {
    messages.push({
      flag: reader.flag,
      body: buffer.subarray(reader.bodyStart, reader.bodyEnd),
      properties: buffer.toString('utf8', reader.propertiesStart, reader.propertiesEnd),
    });
  }
  return messages;
}

/** Throws RangeError for properties too long for their size field. */
export function encodeBatch(messages: readonly BatchMessage[]): Buffer {
  const properties = messages.map((message) => Buffer.from(message.properties));
  const sizes = messages.map(
    (message, index) => FIXED_BYTES + message.body.length + (properties[index] as Buffer).length,
  );
  const target = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  messages.forEach((message, index) => {
    const text = properties[index] as Buffer;
    if (text.length > PROPERTIES_BYTES_MAX)
      throw new RangeError(`properties of ${text.length} bytes do not fit a record`);
    target.writeInt32BE(sizes[index] as number, at);
    target.writeInt32BE(message.flag, at + 12);
    target.writeInt32BE(message.body.length, at + 16);
    target.set(message.body, at + 20);
    target.writeInt16BE(text.length, at + 20 + message.body.length);
    target.set(text, at + FIXED_BYTES + message.body.length);
    at += sizes[index] as number;
  });
  return target;
}
