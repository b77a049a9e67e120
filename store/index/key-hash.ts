import { javaHash } from '../../protocol/message/hash.js';

/** Java's hashCode of `topic#`, which the hash of each of the topic's keys goes on from. */
export function topicHash(topic: string): number {
  return javaHash(`${topic}#`);
}

/** hashCode of `topic#key`, the key in UTF-8 at [start, end) of `bytes`. */
export function keyHash(topicHash: number, bytes: Buffer, start: number, end: number): number {
  let hash = topicHash;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte > 0x7f) return keyTextHash(topicHash, bytes.toString('utf8', start, end));
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return indexHash(hash);
}

export function keyTextHash(topicHash: number, key: string): number {
  let hash = topicHash;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return indexHash(hash);
}

/** What entries hold: never negative; of the smallest int, which has no absolute value, 0 (4.9: IndexFile#indexKeyHashMethod). */
function indexHash(hash: number): number {
  return hash === -0x80000000 ? 0 : Math.abs(hash);
}
