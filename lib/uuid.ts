// Generates UUIDs of version 7, which sort by the time they were made (RFC 9562 section 5.7).
import { randomBytes } from 'node:crypto'

/** 48 bits. */
const timeMsMax = 2 ** 48 - 1

/** @param nowMs Unix epoch. A clock that is set wrongly, before 1970 too, still gives an id */
export function uuidV7(nowMs: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Math.min(Math.max(0, Math.floor(nowMs)), timeMsMax), 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString('hex')
  const ends = [8, 12, 16, 20, 32]
  return ends.map((end, i) => hex.slice(ends[i - 1] ?? 0, end)).join('-')
}
