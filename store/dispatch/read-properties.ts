const NAME_END = 1;
const PROPERTY_END = 2;

/** Where the properties stand that dispatching looks at. */
export interface PropertyRanges {
  tagsStart: number;
  tagsEnd: number;
  keysStart: number;
  keysEnd: number;
  uniqKeyStart: number;
  uniqKeyEnd: number;
  delayStart: number;
  delayEnd: number;
}

const TAGS = Buffer.from('TAGS');
const KEYS = Buffer.from('KEYS');
const UNIQ_KEY = Buffer.from('UNIQ_KEY');
const DELAY = Buffer.from('DELAY');

/**
 * Finds TAGS, KEYS, UNIQ_KEY and DELAY in `name 1 value 2 name 1 value …` without making strings. As in 4.9 the last of two equal
 * names counts, and a property with an empty name or value does not (4.9: MessageDecoder#string2messageProperties).
 */
export function readProperties(buffer: Buffer, start: number, end: number, out: PropertyRanges): void {
  out.tagsStart = out.tagsEnd = 0;
  out.keysStart = out.keysEnd = 0;
  out.uniqKeyStart = out.uniqKeyEnd = 0;
  out.delayStart = out.delayEnd = 0;
  let at = start;
  while (at < end) {
    let nameEnd = -1;
    let valueEnd = at;
    for (; valueEnd < end; valueEnd += 1) {
      const byte = buffer[valueEnd];
      if (byte === PROPERTY_END) break;
      if (byte === NAME_END && nameEnd < 0) nameEnd = valueEnd;
    }
    if (nameEnd > at && nameEnd < valueEnd - 1) take(buffer, at, nameEnd, valueEnd, out);
    at = valueEnd + 1;
  }
}

function take(buffer: Buffer, at: number, nameEnd: number, valueEnd: number, out: PropertyRanges): void {
  switch (nameEnd - at) {
    case 4:
      if (named(buffer, at, TAGS)) {
        out.tagsStart = nameEnd + 1;
        out.tagsEnd = valueEnd;
      } else if (named(buffer, at, KEYS)) {
        out.keysStart = nameEnd + 1;
        out.keysEnd = valueEnd;
      }
      break;
    case 5:
      if (named(buffer, at, DELAY)) {
        out.delayStart = nameEnd + 1;
        out.delayEnd = valueEnd;
      }
      break;
    case 8:
      if (named(buffer, at, UNIQ_KEY)) {
        out.uniqKeyStart = nameEnd + 1;
        out.uniqKeyEnd = valueEnd;
      }
      break;
    default:
  }
}

function named(buffer: Buffer, at: number, name: Buffer): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if (buffer[at + index] !== name[index]) return false;
  }
  return true;
}
