// Reads octets of an open file from a given offset.
import { readSync } from 'node:fs'

/**
 * @param bytes where they go
 * @returns fewer octets than `length` where the file ends
 */
export function readAt(
  fd: number,
  at: number,
  length: number,
  bytes = Buffer.allocUnsafe(length),
): Buffer {
  let read = 0
  while (read < length) {
    const count = readSync(fd, bytes, read, length - read, at + read)
    if (count === 0) break
    read += count
  }
  return bytes.subarray(0, read)
}
