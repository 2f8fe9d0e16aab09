// Reads parts of stored bundles, and of octets in memory.
import { open } from 'node:fs/promises'
import type { BundleReader } from './delta.ts'

/** @throws the file system's error */
export async function withBundleFile<T>(
  path: string,
  use: (reader: BundleReader) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    return await use({
      bytes: size,
      read: async (start, length) => {
        const bytes = new Uint8Array(length)
        let at = 0
        while (at < length) {
          const { bytesRead } = await file.read(bytes, at, length - at, start + at)
          if (bytesRead === 0) throw new Error('the file ends before its time')
          at += bytesRead
        }
        return bytes
      },
    })
  } finally {
    await file.close()
  }
}

export const readerOf = (bytes: Uint8Array): BundleReader => ({
  bytes: bytes.length,
  read: async (start, length) => {
    if (start + length > bytes.length) throw new Error('the octets end before their time')
    return bytes.subarray(start, start + length)
  },
})
