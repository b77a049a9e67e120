import { writeOpaque, type Frame } from './frames.js';

/** 2^53 has 16 digits. */
const DIGITS_MAX = 16;

/** A frame with fields whose decimal numbers change from copy to copy, and with them its length: no leading zeros, as real clients write them. */
export class NumberFrame {
  readonly #frame: Frame;
  /** Where the places of the numbers begin. */
  readonly #placesAt: readonly number[];
  readonly #placeBytes: number;

  /** `place` stands in the frame where a number goes, each time as the whole value of a field. */
  constructor(frame: Frame, place: string) {
    this.#frame = frame;
    this.#placeBytes = place.length;
    const found: number[] = [];
    for (let at = frame.bytes.indexOf(place); at >= 0; at = frame.bytes.indexOf(place, at + 1)) found.push(at);
    this.#placesAt = found;
  }

  get bytesMax(): number {
    return this.#frame.bytes.length + this.#placesAt.length * (DIGITS_MAX - this.#placeBytes);
  }

  /** How much longer a copy is than the template: what stands behind the numbers is so much further back. */
  shift(numbers: ArrayLike<number>): number {
    let shift = 0;
    for (let index = 0; index < numbers.length; index++) shift += digitsOf(numbers[index]!) - this.#placeBytes;
    return shift;
  }

  /** Writes a copy with these numbers, one for each place; returns where it ends. */
  write(target: Buffer, at: number, numbers: ArrayLike<number>, slot: number): number {
    const { bytes, form } = this.#frame;
    let from = 0;
    let to = at;
    for (let index = 0; index < this.#placesAt.length; index++) {
      const placeAt = this.#placesAt[index]!;
      bytes.copy(target, to, from, placeAt);
      to += placeAt - from;
      const digits = digitsOf(numbers[index]!);
      if (form === 'binary') target.writeInt32BE(digits, to - 4);
      writeDigits(target, to, digits, numbers[index]!);
      to += digits;
      from = placeAt + this.#placeBytes;
    }
    bytes.copy(target, to, from);
    const end = to + bytes.length - from;
    const shift = end - at - bytes.length;
    target.writeInt32BE(bytes.readInt32BE(0) + shift, at);
    target.writeInt32BE(bytes.readInt32BE(4) + shift, at + 4);
    if (form === 'binary') target.writeInt32BE(bytes.readInt32BE(25) + shift, at + 25);
    // In JSON the opaque stands behind the fields.
    writeOpaque(target, form === 'binary' ? at : at + shift, this.#frame, slot);
    return end;
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}

function writeDigits(target: Buffer, at: number, digits: number, value: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    target[place] = 48 + (rest - next * 10);
    rest = next;
  }
}
