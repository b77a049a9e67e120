/** Java's String.hashCode, which decides tag codes, index slots and queue choice. */

/** Over UTF-16 units, as a signed 32-bit number. */
export function javaHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/** Hash of the string that `bytes[start, end)` holds in UTF-8; allocates only when it is not pure ASCII. */
export function javaHashUtf8(bytes: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte > 0x7f) return javaHash(bytes.toString('utf8', start, end));
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return hash;
}

/**
 * The 64-bit tags code of a ConsumeQueue entry. 4.9: MessageExtBrokerInner#tagsString2tagsCode; the whole property value is
 * hashed, for multi-tag topics too, and no tags give 0.
 */
export function tagsCodeOf(tags: string | undefined): bigint {
  return tags === undefined || tags === '' ? 0n : BigInt(javaHash(tags));
}
