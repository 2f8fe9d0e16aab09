// Reads the TSIG record of a message. RFC 8945 sections 4.2 and 5.1.
import { HeaderOffset, QClass } from '#dns/header.ts'
import { readMessageName, skipMessageName } from '#dns/message-name.ts'
import { foldName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'

export interface TsigRecord {
  /** Offset of the record in the message. */
  readonly at: number
  /** Wire form, in lower case. */
  readonly keyName: Uint8Array
  /** Wire form, in lower case. */
  readonly algorithmName: Uint8Array
  readonly timeSeconds: number
  readonly fudgeSeconds: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

/** Type, class, TTL and the length of the data. */
const fixedBytes = 10
/** Time, fudge and the size of the MAC. */
const timesBytes = 10
/** Original ID, error and the length of the other data. */
const tailBytes = 6

/**
 * Walks the whole message. Each record costs at least eleven octets, so the work is bounded by the
 * length.
 *
 * @returns null: the message is not signed; `malformed`: the message, or the place of the record,
 * calls for FORMERR
 */
export function readTsig(message: Uint8Array): TsigRecord | null | 'malformed' {
  if (message.length < HeaderOffset.End) return 'malformed'
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  let at: number = HeaderOffset.End
  for (let i = view.getUint16(HeaderOffset.QdCount); i > 0; i--) {
    at = skipMessageName(message, at)
    if (at === -1 || at + 4 > message.length) return 'malformed'
    at += 4
  }
  const additional = view.getUint16(HeaderOffset.ArCount)
  const count =
    view.getUint16(HeaderOffset.AnCount) + view.getUint16(HeaderOffset.NsCount) + additional
  for (let left = count; left > 0; left--) {
    const fixed = skipMessageName(message, at)
    if (fixed === -1 || fixed + fixedBytes > message.length) return 'malformed'
    const end = fixed + fixedBytes + view.getUint16(fixed + 8)
    if (end > message.length) return 'malformed'
    if (view.getUint16(fixed) === RrType.TSIG) {
      // TSIG must be the last record of the message, in the additional section.
      if (left !== 1 || additional === 0 || end !== message.length) return 'malformed'
      return readRecord(message, view, at, fixed) ?? 'malformed'
    }
    at = end
  }
  return null
}

function readRecord(
  message: Uint8Array,
  view: DataView,
  at: number,
  fixed: number,
): TsigRecord | undefined {
  if (view.getUint16(fixed + 2) !== QClass.Any || view.getUint32(fixed + 4) !== 0) return undefined
  const keyName = readMessageName(message, at)
  const data = fixed + fixedBytes
  const algorithm = readMessageName(message, data)
  if (keyName === undefined || algorithm === undefined) return undefined
  // RFC 3597 section 4: no compression in the data of newer types.
  if (algorithm.end - data !== algorithm.wire.length) return undefined
  const times = algorithm.end
  if (times + timesBytes > message.length) return undefined
  const tail = times + timesBytes + view.getUint16(times + 8)
  if (tail + tailBytes > message.length) return undefined
  const other = tail + tailBytes
  if (other + view.getUint16(tail + 4) !== message.length) return undefined
  return {
    at,
    keyName: foldName(keyName.wire),
    algorithmName: foldName(algorithm.wire),
    timeSeconds: view.getUint16(times) * 2 ** 32 + view.getUint32(times + 2),
    fudgeSeconds: view.getUint16(times + 6),
    mac: new Uint8Array(message.subarray(times + timesBytes, tail)),
    originalId: view.getUint16(tail),
    error: view.getUint16(tail + 2),
    other: new Uint8Array(message.subarray(other)),
  }
}
