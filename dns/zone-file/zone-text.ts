// Decodes a zone file as UTF-8 and finds the line and column of any position in it.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

interface Place {
  readonly line: number
  readonly column: number
}

export interface ZoneText {
  readonly text: string
  /** @param position counted from 1 */
  readonly placeOf: (position: number) => Place
}

/** @returns on failure, the place of the first octet that is not UTF-8, as in Latin-1 files */
export function zoneText(octets: Uint8Array): Result<ZoneText, Place & { readonly octet: number }> {
  const text = decoded(octets)
  if (text !== undefined) {
    let starts: number[] | undefined
    return ok({ text, placeOf: (position) => placeIn((starts ??= lineStarts(text)), position) })
  }
  const at = firstInvalid(octets)
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(octets.subarray(0, at))
  return err({ ...placeIn(lineStarts(before), before.length + 1), octet: octets[at]! })
}

function decoded(octets: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets)
  } catch {
    return undefined
  }
}

/** Finds the line first, then the character in it. */
function firstInvalid(octets: Uint8Array): number {
  let start = 0
  for (;;) {
    const found = octets.indexOf(0x0a, start)
    const end = found === -1 ? octets.length : found + 1
    if (found === -1 || decoded(octets.subarray(start, end)) === undefined) break
    start = end
  }
  for (;;) {
    const length = characterBytes(octets[start]!)
    if (decoded(octets.subarray(start, start + length)) === undefined) return start
    start += length
  }
}

/** Length of a UTF-8 character by its first octet. RFC 3629 section 3. */
function characterBytes(octet: number): number {
  if (octet < 0xc0) return 1
  if (octet < 0xe0) return 2
  return octet < 0xf0 ? 3 : 4
}

/** Offsets of the line starts: after LF, CR LF, or a CR alone. */
function lineStarts(text: string): number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return starts
}

function placeIn(starts: readonly number[], position: number): Place {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (starts[middle]! < position) low = middle
    else high = middle
  }
  return { line: low + 1, column: position - starts[low]! }
}
