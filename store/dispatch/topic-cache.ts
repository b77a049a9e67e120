import { isValidTopic } from '../../protocol/message/names.js';
import { TOPIC_BYTES_MAX } from '../../protocol/message/record.js';

const SLOTS = 1024;

/** Topic names by their bytes, so that a record's topic costs no new string. At most 1024 are held; a newer one takes the place. */
export class TopicCache {
  readonly #bytes = Buffer.alloc(SLOTS * TOPIC_BYTES_MAX);
  readonly #lengths = new Uint8Array(SLOTS);
  readonly #topics: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);
  /** Most records have the topic of the one before. */
  #lastSlot = 0;

  /** The name in `buffer` from `start` to `end`, or undefined when it may not be a topic's: names become paths. */
  get(buffer: Buffer, start: number, end: number): string | undefined {
    const length = end - start;
    if (length <= 0 || length > TOPIC_BYTES_MAX) return undefined;
    if (this.#isAt(this.#lastSlot, buffer, start, length)) return this.#topics[this.#lastSlot];
    let hash = length;
    for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (buffer[at] ?? 0)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    this.#lastSlot = slot;
    if (this.#isAt(slot, buffer, start, length)) return this.#topics[slot];
    return this.#put(slot, buffer, start, end);
  }

  #isAt(slot: number, buffer: Buffer, start: number, length: number): boolean {
    if (this.#lengths[slot] !== length) return false;
    const from = slot * TOPIC_BYTES_MAX;
    for (let index = 0; index < length; index += 1) {
      if (this.#bytes[from + index] !== buffer[start + index]) return false;
    }
    return true;
  }

  #put(slot: number, buffer: Buffer, start: number, end: number): string | undefined {
    const topic = buffer.toString('latin1', start, end);
    if (!isValidTopic(topic)) return undefined;
    buffer.copy(this.#bytes, slot * TOPIC_BYTES_MAX, start, end);
    this.#lengths[slot] = end - start;
    this.#topics[slot] = topic;
    return topic;
  }
}
