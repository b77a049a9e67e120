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
  timerOutStart: number;
  timerOutEnd: number;
}

/** Names by their bytes, four at a time: comparing words costs less than bytes one by one. */
const TAGS = 0x54414753;
const KEYS = 0x4b455953;
const UNIQ = 0x554e4951;
const UNDERSCORE_KEY = 0x5f4b4559;
const DELA = 0x44454c41;
const Y = 0x59;
const TIME = 0x54494d45;
const R_OU = 0x525f4f55;
const T_MS = 0x545f4d53;

/** In each byte of a word: 3, and the highest bit. */
const THREES = 0x03030303;
const HIGH_BITS = 0x80808080;

/**
 * Finds TAGS, KEYS, UNIQ_KEY, DELAY and TIMER_OUT_MS in `name 1 value 2 name 1 value …` without making strings. As in 4.9 the last of two equal
 * names counts, and a property with an empty name or value does not (4.9: MessageDecoder#string2messageProperties).
 */
export function readProperties(view: DataView, start: number, end: number, out: PropertyRanges): void {
  out.tagsStart = out.tagsEnd = 0;
  out.keysStart = out.keysEnd = 0;
  out.uniqKeyStart = out.uniqKeyEnd = 0;
  out.delayStart = out.delayEnd = 0;
  out.timerOutStart = out.timerOutEnd = 0;
  for (let at = start; at < end;) {
    const nameEnd = nextSeparator(view, at, end);
    if (nameEnd === end) return;
    const empty = view.getUint8(nameEnd) === PROPERTY_END;
    const valueEnd = empty ? nameEnd : endOfValue(view, nameEnd + 1, end);
    if (nameEnd > at && nameEnd < valueEnd - 1) take(view, at, nameEnd, valueEnd, out);
    at = valueEnd + 1;
  }
}

/** A value may hold more of the bytes that end a name. */
function endOfValue(view: DataView, start: number, end: number): number {
  let at = nextSeparator(view, start, end);
  while (at < end && view.getUint8(at) === NAME_END) at = nextSeparator(view, at + 1, end);
  return at;
}

/** Position of the first byte 1 or 2 from `start` on; `end` when there is none. */
function nextSeparator(view: DataView, start: number, end: number): number {
  let at = start;
  for (;;) {
    for (; at + 4 <= end; at += 4) {
      const word = view.getInt32(at, true);
      // Some byte below 3.
      if (((word - THREES) & ~word & HIGH_BITS) !== 0) break;
    }
    const wordEnd = Math.min(at + 4, end);
    for (; at < wordEnd; at++) {
      const byte = view.getUint8(at);
      if (byte === NAME_END || byte === PROPERTY_END) return at;
    }
    if (at >= end) return end;
  }
}

function take(view: DataView, at: number, nameEnd: number, valueEnd: number, out: PropertyRanges): void {
  const length = nameEnd - at;
  if (length !== 4 && length !== 5 && length !== 8 && length !== 12) return;
  const word = view.getInt32(at);
  if (length === 4 && word === TAGS) {
    out.tagsStart = nameEnd + 1;
    out.tagsEnd = valueEnd;
  } else if (length === 4 && word === KEYS) {
    out.keysStart = nameEnd + 1;
    out.keysEnd = valueEnd;
  } else if (length === 5 && word === DELA && view.getUint8(at + 4) === Y) {
    out.delayStart = nameEnd + 1;
    out.delayEnd = valueEnd;
  } else if (length === 8 && word === UNIQ && view.getInt32(at + 4) === UNDERSCORE_KEY) {
    out.uniqKeyStart = nameEnd + 1;
    out.uniqKeyEnd = valueEnd;
  } else if (length === 12 && word === TIME && view.getInt32(at + 4) === R_OU && view.getInt32(at + 8) === T_MS) {
    out.timerOutStart = nameEnd + 1;
    out.timerOutEnd = valueEnd;
  }
}
