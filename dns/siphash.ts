// SipHash-2-4 with a result of 64 bits: a keyed hash of short messages. Aumasson and Bernstein,
// "SipHash: a fast short-input PRF".

/** Octets of a key. */
export const siphashKeyBytes = 16

/**
 * Hashes `message` under a key; 64-bit numbers are pairs of 32-bit halves, all words little-endian.
 *
 * @param keys has the words of the key from `keyAt` on
 * @param message whole pairs of words, zero after the last octet; the very last octet of the pair
 * that has room for one may be anything
 * @param bytes length of the message
 * @param hash gets the lower half, then the upper half
 */
export function siphash(
  keys: Int32Array,
  keyAt: number,
  message: Int32Array,
  bytes: number,
  hash: Int32Array,
): void {
  let v0l = keys[keyAt]! ^ 0x70736575
  let v0h = keys[keyAt + 1]! ^ 0x736f6d65
  let v1l = keys[keyAt + 2]! ^ 0x6e646f6d
  let v1h = keys[keyAt + 3]! ^ 0x646f7261
  let v2l = keys[keyAt]! ^ 0x6e657261
  let v2h = keys[keyAt + 1]! ^ 0x6c796765
  let v3l = keys[keyAt + 2]! ^ 0x79746573
  let v3h = keys[keyAt + 3]! ^ 0x74656462
  const last = bytes >> 3
  // After the last pair, which holds the length, come four rounds without a pair.
  for (let pair = 0; pair <= last + 1; pair++) {
    const isEnd = pair > last
    const low = isEnd ? 0 : message[pair * 2]!
    let high = isEnd ? 0 : message[pair * 2 + 1]!
    if (pair === last) high = (high & 0x00ff_ffff) | (bytes << 24)
    v3l ^= low
    v3h ^= high
    if (isEnd) v2l ^= 0xff
    for (let round = isEnd ? 4 : 2; round > 0; round--) {
      let sum = (v0l + v1l) | 0
      v0h = (v0h + v1h + carry(v0l, v1l, sum)) | 0
      v0l = sum
      sum = (v2l + v3l) | 0
      v2h = (v2h + v3h + carry(v2l, v3l, sum)) | 0
      v2l = sum
      let left = (v1l << 13) | (v1h >>> 19)
      v1h = ((v1h << 13) | (v1l >>> 19)) ^ v0h
      v1l = left ^ v0l
      left = (v3l << 16) | (v3h >>> 16)
      v3h = ((v3h << 16) | (v3l >>> 16)) ^ v2h
      v3l = left ^ v2l
      // The halves of v0 are swapped from here to the end of the round.
      sum = (v2l + v1l) | 0
      v2h = (v2h + v1h + carry(v2l, v1l, sum)) | 0
      v2l = sum
      sum = (v0h + v3l) | 0
      v0h = (v0l + v3h + carry(v0h, v3l, sum)) | 0
      v0l = sum
      left = (v1l << 17) | (v1h >>> 15)
      v1h = ((v1h << 17) | (v1l >>> 15)) ^ v2h
      v1l = left ^ v2l
      left = (v3l << 21) | (v3h >>> 11)
      v3h = ((v3h << 21) | (v3l >>> 11)) ^ v0h
      v3l = left ^ v0l
      left = v2l
      v2l = v2h
      v2h = left
    }
    v0l ^= low
    v0h ^= high
  }
  hash[0] = v0l ^ v1l ^ v2l ^ v3l
  hash[1] = v0h ^ v1h ^ v2h ^ v3h
}

/**
 * The carry of a sum of two lower halves: 0 or 1. By bits, since a comparison would be an
 * unpredictable branch, which takes twice the time of the whole hash.
 */
function carry(a: number, b: number, sum: number): number {
  return ((a & b) | ((a | b) & ~sum)) >>> 31
}
