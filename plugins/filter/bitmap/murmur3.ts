const C1 = 0x87c37b91114253d5n;
const C2 = 0x4cf5ad432745937fn;
const BLOCK_BYTES = 16;

/** The first 64 bits of MurmurHash3_x64_128 with seed 0, as a signed number (Guava: Hashing.murmur3_128().hashString(…).asLong()). */
export function murmur3(text: string): bigint {
  const bytes = Buffer.from(text);
  const whole = bytes.length - (bytes.length % BLOCK_BYTES);
  let [h1, h2] = [0n, 0n];
  for (let at = 0; at < whole; at += BLOCK_BYTES) {
    h1 = wrap(wrap(rotate(h1 ^ mix1(bytes.readBigUInt64LE(at)), 27n) + h2) * 5n + 0x52dce729n);
    h2 = wrap(wrap(rotate(h2 ^ mix2(bytes.readBigUInt64LE(at + 8)), 31n) + h1) * 5n + 0x38495ab5n);
  }
  const tail = Buffer.alloc(BLOCK_BYTES);
  bytes.copy(tail, 0, whole);
  const length = BigInt(bytes.length);
  h1 ^= mix1(tail.readBigUInt64LE(0)) ^ length;
  h2 ^= mix2(tail.readBigUInt64LE(8)) ^ length;
  h1 = wrap(h1 + h2);
  h2 = wrap(h2 + h1);
  return BigInt.asIntN(64, finish(h1) + finish(h2));
}

function mix1(word: bigint): bigint {
  return wrap(rotate(wrap(word * C1), 31n) * C2);
}

function mix2(word: bigint): bigint {
  return wrap(rotate(wrap(word * C2), 33n) * C1);
}

function finish(hash: bigint): bigint {
  let mixed = wrap((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn);
  mixed = wrap((mixed ^ (mixed >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return mixed ^ (mixed >> 33n);
}

function rotate(word: bigint, by: bigint): bigint {
  return wrap(word << by) | (word >> (64n - by));
}

function wrap(word: bigint): bigint {
  return BigInt.asUintN(64, word);
}
