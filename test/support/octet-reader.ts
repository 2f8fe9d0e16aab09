// Reads parts of octets in memory as those of a stored bundle are read.
import type { BundleReader } from '#fleet/delta.ts'

export const readerOf = (bytes: Uint8Array): BundleReader => ({
  bytes: bytes.length,
  read: async (start, length) => {
    if (start + length > bytes.length) throw new Error('the octets end before their time')
    return bytes.subarray(start, start + length)
  },
})
