/**
 * An answer that is the same each time but for its opaque, written straight into the connection's outbound buffer without a string or an
 * object. Byte for byte what `encodeResponse` makes of it.
 */
import { encodeResponse, type ResponseFields } from './command-write.js';
import { Serialize } from './header-form.js';
import { writeDecimal } from './headers/send-answer-fast.js';

/** Both length words, code, language and version. */
const BINARY_OPAQUE_AT = 13;
const LENGTH_WORDS = 8;
const DIGITS_MAX = 11;
const JSON_OPAQUE = Buffer.from('"opaque":');

export class SameAnswer {
  readonly bytesMax: number;
  readonly #binary: Buffer;
  readonly #jsonHead: Buffer;
  readonly #jsonTail: Buffer;

  constructor(readonly reply: ResponseFields) {
    this.#binary = encodeResponse({ opaque: 0, serialize: Serialize.ROCKETMQ }, reply);
    const json = encodeResponse({ opaque: 0, serialize: Serialize.JSON }, reply);
    const opaqueAt = json.lastIndexOf(JSON_OPAQUE) + JSON_OPAQUE.length;
    this.#jsonHead = json.subarray(0, opaqueAt);
    this.#jsonTail = json.subarray(opaqueAt + 1);
    this.bytesMax = Math.max(this.#binary.length, json.length + DIGITS_MAX);
  }

  /** Writes the whole frame at `at`, where `bytesMax` bytes must be free; returns the position after it. */
  write(target: Buffer, at: number, opaque: number, serialize: Serialize): number {
    if (serialize === Serialize.ROCKETMQ) {
      target.set(this.#binary, at);
      target.writeInt32BE(opaque, at + BINARY_OPAQUE_AT);
      return at + this.#binary.length;
    }
    target.set(this.#jsonHead, at);
    const tailAt = writeDecimal(target, opaque, at + this.#jsonHead.length);
    target.set(this.#jsonTail, tailAt);
    const end = tailAt + this.#jsonTail.length;
    target.writeInt32BE(end - at - 4, at);
    target.writeUInt32BE(((serialize << 24) | (end - at - LENGTH_WORDS)) >>> 0, at + 4);
    return end;
  }
}
