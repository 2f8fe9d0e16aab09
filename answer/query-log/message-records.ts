// Walks the records of an untrusted DNS message and gives their places. RFC 1035 section 4.1.
import { HeaderOffset } from '#dns/header.ts'
import { skipMessageName } from '#dns/message-name.ts'

export const Section = { Answer: 1, Authority: 2, Additional: 3 } as const

interface RecordPlace {
  /** One of Section. */
  readonly section: number
  readonly type: number
  /** Bounds of the rdata in the message, as offsets. */
  readonly start: number
  readonly end: number
}

/** Octets after the name: type, class, TTL, length of rdata. RFC 1035 section 4.1.3. */
const recordHeadBytes = 10
const questionTailBytes = 4

/** @returns undefined: the message does not match its header */
export function recordPlaces(message: Uint8Array): readonly RecordPlace[] | undefined {
  if (message.length < HeaderOffset.End) return undefined
  const octets = Buffer.from(message.buffer, message.byteOffset, message.length)
  let at: number = HeaderOffset.End
  for (let left = octets.readUInt16BE(HeaderOffset.QdCount); left > 0; left--) {
    const end = skipMessageName(octets, at)
    if (end < 0 || end + questionTailBytes > octets.length) return undefined
    at = end + questionTailBytes
  }
  const places: RecordPlace[] = []
  for (const section of [Section.Answer, Section.Authority, Section.Additional]) {
    let left = octets.readUInt16BE(HeaderOffset.QdCount + section * 2)
    for (; left > 0; left--) {
      const head = skipMessageName(octets, at)
      if (head < 0 || head + recordHeadBytes > octets.length) return undefined
      const start = head + recordHeadBytes
      const end = start + octets.readUInt16BE(start - 2)
      if (end > octets.length) return undefined
      places.push({ section, type: octets.readUInt16BE(head), start, end })
      at = end
    }
  }
  return places
}

interface OptionPlace {
  /** One of EdnsOption. */
  readonly code: number
  readonly start: number
  readonly end: number
}

const optType = 41
const optionHeadBytes = 4

/**
 * Places of the options in the OPT records of a message. RFC 6891 section 6.1.2.
 *
 * @returns as above
 */
export function optionPlaces(message: Uint8Array): readonly OptionPlace[] | undefined {
  const records = recordPlaces(message)
  if (records === undefined) return undefined
  const octets = Buffer.from(message.buffer, message.byteOffset, message.length)
  const options: OptionPlace[] = []
  for (const { type, start, end } of records) {
    if (type !== optType) continue
    let at = start
    while (at < end) {
      if (at + optionHeadBytes > end) return undefined
      const dataStart = at + optionHeadBytes
      const dataEnd = dataStart + octets.readUInt16BE(at + 2)
      if (dataEnd > end) return undefined
      options.push({ code: octets.readUInt16BE(at), start: dataStart, end: dataEnd })
      at = dataEnd
    }
  }
  return options
}
