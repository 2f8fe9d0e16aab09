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
    const lines = new Lines(text)
    return ok({ text, placeOf: (position) => lines.placeOf(position) })
  }
  const at = firstInvalid(octets)
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(octets.subarray(0, at))
  return err({ ...new Lines(before).placeOf(before.length + 1), octet: octets[at]! })
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

const [lf, cr] = [0x0a, 0x0d]

/** Finds lines, which end with LF, CR LF, or a CR alone. */
class Lines {
  readonly #text: string
  /** Offsets of the lines that begin before `#readTo`. */
  readonly #starts = [0]
  #readTo = 0

  constructor(text: string) {
    this.#text = text
  }

  /** @param position counted from 1 */
  placeOf(position: number): Place {
    this.#readUpTo(position)
    const starts = this.#starts
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (starts[middle]! < position) low = middle
      else high = middle
    }
    return { line: low + 1, column: position - starts[low]! }
  }

  /** Most places of a long zone are never asked for. */
  #readUpTo(position: number): void {
    for (; this.#readTo < position; this.#readTo++) {
      const code = this.#text.charCodeAt(this.#readTo)
      const isEnd = code === lf || (code === cr && this.#text.charCodeAt(this.#readTo + 1) !== lf)
      if (isEnd) this.#starts.push(this.#readTo + 1)
    }
  }
}
