import { crc32 } from '../../../protocol/message/crc.js';
import { SeededRandom } from '../../support/seeded-random.js';

/**
 * What the bodies of a load look like, so that each can be made again and compared byte by byte:
 *
 *   int32 magic, int32 producer, int32 sequence, random bytes, int32 CRC of all before it
 */
const MAGIC = 0x4d514b21;
const HEAD_BYTES = 12;
export const BODY_BYTES_MIN = HEAD_BYTES + 4;

export interface BodyName {
  readonly producer: number;
  readonly sequence: number;
}

/** Makes the bodies of one load: same seed, same bodies. */
export class Bodies {
  readonly #noise: Buffer;

  constructor(
    seed: number,
    private readonly bytesMax: number,
  ) {
    const random = new SeededRandom(seed);
    this.#noise = Buffer.from(Array.from({ length: 2 * bytesMax }, () => random.below(256)));
  }

  make(producer: number, sequence: number): Buffer {
    const mixed = Math.imul(producer * 7919 + sequence, 0x9e3779b1) >>> 0;
    const body = Buffer.allocUnsafe(BODY_BYTES_MIN + (mixed % (this.bytesMax - BODY_BYTES_MIN + 1)));
    this.#noise.copy(body, HEAD_BYTES, mixed % this.bytesMax);
    body.writeInt32BE(MAGIC, 0);
    body.writeInt32BE(producer, 4);
    body.writeInt32BE(sequence, 8);
    body.writeInt32BE(crc32(body, 0, body.length - 4), body.length - 4);
    return body;
  }
}

/** Which message a body says that it is; undefined when it is none of ours or its CRC is wrong. */
export function nameOf(body: Buffer): BodyName | undefined {
  if (body.length < BODY_BYTES_MIN || body.readInt32BE(0) !== MAGIC) return undefined;
  if (body.readInt32BE(body.length - 4) !== crc32(body, 0, body.length - 4)) return undefined;
  return { producer: body.readInt32BE(4), sequence: body.readInt32BE(8) };
}
