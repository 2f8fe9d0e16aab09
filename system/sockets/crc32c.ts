// Computes CRC32C (Castagnoli), the checksum of a PROXY header. RFC 3720 appendix B.4.

/** Reflected form of the polynomial 0x1edc6f41. */
const polynomial = 0x82f6_3b78
const table = Int32Array.from({ length: 256 }, (_, octet) => {
  let value = octet
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? polynomial : 0)
  return value
})

/**
 * Computes the checksum of the octets from `from` to `end`, as a signed number.
 *
 * @param blankAt where four octets count as 0: those that hold the checksum itself
 */
export function crc32c(octets: Uint8Array, from: number, end: number, blankAt: number): number {
  let crc = -1
  for (let at = from; at < end; at++) {
    const octet = at >= blankAt && at < blankAt + 4 ? 0 : octets[at]!
    crc = (crc >>> 8) ^ table[(crc ^ octet) & 0xff]!
  }
  return ~crc
}
