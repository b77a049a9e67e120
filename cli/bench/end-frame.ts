import { encodeFrame, type HeaderForm } from './frames.js';
import { NumberFrame } from './number-frame.js';
import { KEY_DIGITS, KEY_STEM, keysIn, PRODUCER_GROUP, writeKey } from './send-frames.js';

const END_TRANSACTION = 37;
const COMMIT = '8';
const PLACE = '918273645918273';

/** The request that commits a half message: where it stands, and its key. It asks for an answer, so that what is counted is done. */
export class EndFrame {
  readonly #frame: NumberFrame;
  readonly #keysAt: readonly number[];
  readonly #numbers = new Float64Array(2);

  constructor(form: HeaderForm) {
    const key = KEY_STEM + '0'.repeat(KEY_DIGITS);
    const ext = {
      producerGroup: PRODUCER_GROUP,
      tranStateTableOffset: PLACE,
      commitLogOffset: PLACE,
      commitOrRollback: COMMIT,
      fromTransactionCheck: 'false',
      msgId: key,
      transactionId: key,
    };
    const frame = encodeFrame(form, END_TRANSACTION, ext, Buffer.alloc(0));
    this.#keysAt = keysIn(frame.bytes);
    this.#frame = new NumberFrame(frame, PLACE);
  }

  get bytesMax(): number {
    return this.#frame.bytesMax;
  }

  /** Returns where the request ends. */
  write(target: Buffer, at: number, half: HalfPlace, key: number, slot: number): number {
    this.#numbers[0] = half.queueOffset;
    this.#numbers[1] = half.position;
    const end = this.#frame.write(target, at, this.#numbers, slot);
    const keysFrom = at + this.#frame.shift(this.#numbers);
    for (let index = 0; index < this.#keysAt.length; index++) writeKey(target, keysFrom + this.#keysAt[index]!, key);
    return end;
  }
}

/** Where a half message stands, as the answer to its send says. */
export interface HalfPlace {
  queueOffset: number;
  position: number;
}
