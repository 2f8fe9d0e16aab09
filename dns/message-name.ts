// Reads names inside a whole message, compressed or not. RFC 1035 section 4.1.4.
import { nameLimits } from './name.ts'

interface MessageName {
  /** Wire form, not compressed; case is kept. */
  readonly wire: Uint8Array
  /** Offset of the first octet after the name where it begins, not after a pointer's target. */
  readonly end: number
}

/** A name of 255 octets has at most 127 labels, so no sender needs more pointers. */
const pointersMax = nameLimits.labelsMax

/**
 * Reads the name at `start`. Each pointer must lead further to the front than the one before, so
 * that no chain of pointers is a loop.
 *
 * @returns undefined: there is no name at `start`
 */
export function readMessageName(message: Uint8Array, start: number): MessageName | undefined {
  const wire = new Uint8Array(nameLimits.bytesMax)
  let length = 0
  let at = start
  let front = start
  let end = -1
  for (let pointers = 0; pointers <= pointersMax;) {
    const octet = message[at]
    if (octet === undefined) return undefined
    if (octet >= 0xc0) {
      const low = message[at + 1]
      if (low === undefined) return undefined
      const target = ((octet & 0x3f) << 8) | low
      if (target >= front) return undefined
      if (end === -1) end = at + 2
      at = front = target
      pointers++
      continue
    }
    if (octet > nameLimits.labelBytesMax || at + 1 + octet > message.length) return undefined
    if (length + 1 + octet > nameLimits.bytesMax) return undefined
    wire.set(message.subarray(at, at + 1 + octet), length)
    length += 1 + octet
    at += 1 + octet
    if (octet === 0) return { wire: wire.slice(0, length), end: end === -1 ? at : end }
  }
  return undefined
}

/** @returns the offset after the name as it stands, pointer included, or -1 */
export function skipMessageName(message: Uint8Array, start: number): number {
  for (let at = start; at < message.length;) {
    const octet = message[at]!
    if (octet === 0) return at + 1
    if (octet >= 0xc0) return at + 2 <= message.length ? at + 2 : -1
    if (octet > nameLimits.labelBytesMax) return -1
    at += octet + 1
  }
  return -1
}
