// Compact denial: NSEC records that say of one name which types it has. RFC 9824, RFC 4034 section
// 4. What is written here is written for a query, so that nothing is allocated.
import { foldTable, nameLimits } from '#dns/name.ts'

/** RFC 4034 section 4.1.2: a window is 256 types, a bit for each. */
const windowBytesMax = 32

/** Greatest rdata of NSEC for so many types: each of them may need a window of its own. */
export function nsecBytesMax(types: number): number {
  return nameLimits.bytesMax + Math.min(types, 256) * (2 + windowBytesMax)
}

/**
 * Writes rdata of NSEC: the name that follows immediately, then the bits of types.
 *
 * @param name in wire form, from `start` on
 * @param types the first `count` of them ascend, each once
 * @returns where it ends
 */
export function writeNsec(
  to: Uint8Array,
  at: number,
  name: Uint8Array,
  start: number,
  types: Uint16Array,
  count: number,
): number {
  return writeTypeBits(to, writeNextName(to, at, name, start), types, count)
}

/**
 * The first name after another one in canonical order (RFC 4034 section 6.1): a label of one zero
 * octet before it. Where that is too long, a zero octet at the end of its first label; else the
 * last octet of the label that can be greater is, and all behind it goes.
 *
 * @returns where it ends
 */
export function writeNextName(to: Uint8Array, at: number, name: Uint8Array, start: number): number {
  const bytes = endOfName(name, start) - start
  const first = name[start]!
  if (bytes + 2 <= nameLimits.bytesMax) {
    to[at] = 1
    to[at + 1] = 0
    return copyFolded(to, at + 2, name, start, bytes)
  }
  if (bytes < nameLimits.bytesMax && first < nameLimits.labelBytesMax) {
    to[at] = first + 1
    copyFolded(to, at + 1, name, start + 1, first)
    to[at + 1 + first] = 0
    const rest = start + 1 + first
    return copyFolded(to, at + 2 + first, name, rest, bytes - first - 1)
  }
  return writeGreater(to, at, name, start)
}

function writeGreater(to: Uint8Array, at: number, name: Uint8Array, start: number): number {
  // A label of 0xff alone has nothing after it below its parent.
  let label = start
  let last = label + name[label]!
  while (name[last] === 0xff) {
    last--
    if (last > label) continue
    label += name[label]! + 1
    last = label + name[label]!
  }
  // Nothing is greater: the first name follows the last one. RFC 4034 section 4.1.1.
  if (name[label] === 0) {
    to[at] = 0
    return at + 1
  }
  const rest = label + name[label]! + 1
  to[at] = last - label
  copyFolded(to, at + 1, name, label + 1, last - label)
  const end = at + 1 + last - label
  to[end - 1] = nextOctet(to[end - 1]!)
  return copyFolded(to, end, name, rest, endOfName(name, rest) - rest)
}

/** An upper case letter would sort as the lower one does. */
function nextOctet(octet: number): number {
  return octet + 1 === 0x41 ? 0x5b : octet + 1
}

function endOfName(name: Uint8Array, start: number): number {
  let at = start
  while (name[at] !== 0) at += name[at]! + 1
  return at + 1
}

function copyFolded(
  to: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  bytes: number,
): number {
  for (let i = 0; i < bytes; i++) to[at + i] = foldTable[from[start + i]!]!
  return at + bytes
}

/** @returns where they end */
export function writeTypeBits(
  to: Uint8Array,
  at: number,
  types: Uint16Array,
  count: number,
): number {
  let end = at
  for (let i = 0; i < count;) {
    const window = types[i]! >> 8
    const bits = end + 2
    let bytes = 0
    for (; i < count && types[i]! >> 8 === window; i++) {
      const octet = (types[i]! & 0xff) >> 3
      while (bytes <= octet) to[bits + bytes++] = 0
      to[bits + octet]! |= 0x80 >> (types[i]! & 7)
    }
    to[end] = window
    to[end + 1] = bytes
    end = bits + bytes
  }
  return end
}
