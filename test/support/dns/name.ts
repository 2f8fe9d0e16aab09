// Domain names for tests, between presentation format and the wire. Written apart from dns/name.ts.

/** Wire form without compression. Accepts `\.`, `\\` and `\DDD`; a final dot may be missing. */
export function encodeName(text: string): Buffer {
  if (text === '.') return Buffer.from([0])
  const labels: number[][] = [[]]
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    if (char === '.') {
      labels.push([])
    } else if (char !== '\\') {
      labels.at(-1)?.push(char.charCodeAt(0))
    } else if (/\d/.test(text[i + 1] ?? '')) {
      labels.at(-1)?.push(Number(text.slice(i + 1, i + 4)))
      i += 3
    } else {
      labels.at(-1)?.push(text.charCodeAt(++i))
    }
  }
  if (labels.at(-1)?.length === 0) labels.pop()
  return Buffer.from([...labels.flatMap((label) => [label.length, ...label]), 0])
}

interface DecodedName {
  /** Presentation format with a final dot; case as on the wire. */
  readonly text: string
  /** Offset after the name where it stands, not where a pointer led. */
  readonly end: number
  /** Offset that the first pointer named, when there was one. */
  readonly pointsTo: number | undefined
}

const headerBytes = 12

/** @throws when the name leaves the message, points forward or is longer than 255 octets */
export function decodeName(bytes: Uint8Array, start: number): DecodedName {
  let at = start
  let end = -1
  let pointsTo: number | undefined
  let lowest = start
  let octets = 1
  let text = ''
  for (;;) {
    const length = byteAt(bytes, at)
    if (length >= 0xc0) {
      const target = ((length & 0x3f) << 8) | byteAt(bytes, at + 1)
      if (target >= lowest) throw new Error(`pointer at ${at} does not point backwards: ${target}`)
      if (target < headerBytes) throw new Error(`pointer at ${at} leads into the header`)
      pointsTo ??= target
      if (end < 0) end = at + 2
      lowest = target
      at = target
      continue
    }
    if (length > 63) throw new Error(`label type ${length} at ${at}`)
    at++
    if (length === 0) break
    octets += length + 1
    if (octets > 255) throw new Error(`name at ${start} is longer than 255 octets`)
    for (let i = 0; i < length; i++) text += printOctet(byteAt(bytes, at + i))
    text += '.'
    at += length
  }
  return { text: text === '' ? '.' : text, end: end < 0 ? at : end, pointsTo }
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new Error(`offset ${at} is outside the ${bytes.length} bytes`)
  return byte
}

function printOctet(octet: number): string {
  const char = String.fromCharCode(octet)
  if (char === '.' || char === '\\') return `\\${char}`
  return octet > 32 && octet < 127 ? char : `\\${String(octet).padStart(3, '0')}`
}
