// Reads parts of stored bundles.
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
