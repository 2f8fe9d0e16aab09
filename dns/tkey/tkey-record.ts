// Reads and writes the TKEY record, by which client and server agree on a key. RFC 2930 section 2.
import { HeaderOffset, QClass } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { foldName, sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'

export interface TkeyRecord {
  /** Wire form, in lower case. */
  readonly keyName: Uint8Array
  /** Wire form, in lower case. */
  readonly algorithmName: Uint8Array
  /** Seconds of the Unix epoch, as both ends know it: 32 bits. */
  readonly inceptionSeconds: number
  readonly expirationSeconds: number
  readonly mode: number
  readonly error: number
  readonly key: Uint8Array
}

/** RFC 2930 section 2.5. */
export const TkeyMode = { GssApi: 3, Delete: 5 } as const

/** RFC 2930 section 2.6. */
export const TkeyError = {
  None: 0,
  BadKey: 17,
  BadMode: 19,
  BadName: 20,
  BadAlgorithm: 21,
} as const
export type TkeyError = (typeof TkeyError)[keyof typeof TkeyError]

/** Type, class, TTL and the length of the data. */
const fixedBytes = 10
/** Inception, expiration, mode, error and the size of the key. */
const timesBytes = 14
/** The size of the other data. */
const tailBytes = 2

/**
 * Reads the record of the question's name from the additional section, or from the answer, where
 * Windows 2000 writes it. Each record costs at least eleven octets, so the work is bounded by the
 * length.
 *
 * @param message without its signature
 * @returns undefined: there is no such record, several, or a malformed one; FORMERR is the answer
 */
export function readTkey(message: Uint8Array): TkeyRecord | undefined {
  if (message.length < HeaderOffset.End) return undefined
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  if (view.getUint16(HeaderOffset.QdCount) !== 1) return undefined
  const question = readMessageName(message, HeaderOffset.End)
  if (question === undefined || question.end + 4 > message.length) return undefined
  const keyName = foldName(question.wire)
  const answers = view.getUint16(HeaderOffset.AnCount)
  const authority = view.getUint16(HeaderOffset.NsCount)
  const count = answers + authority + view.getUint16(HeaderOffset.ArCount)
  let found: TkeyRecord | undefined
  let at = question.end + 4
  for (let i = 0; i < count; i++) {
    const owner = readMessageName(message, at)
    if (owner === undefined || owner.end + fixedBytes > message.length) return undefined
    const data = owner.end + fixedBytes
    const end = data + view.getUint16(owner.end + 8)
    if (end > message.length) return undefined
    const isPlaced = i < answers || i >= answers + authority
    if (view.getUint16(owner.end) === RrType.TKEY && isPlaced) {
      if (found !== undefined || !sameOctets(foldName(owner.wire), keyName)) return undefined
      found = readData(message, view, keyName, data, end)
      if (found === undefined) return undefined
    }
    at = end
  }
  return at === message.length ? found : undefined
}

function readData(
  message: Uint8Array,
  view: DataView,
  keyName: Uint8Array,
  data: number,
  end: number,
): TkeyRecord | undefined {
  const algorithm = readMessageName(message, data)
  if (algorithm === undefined) return undefined
  const times = algorithm.end
  if (times + timesBytes > end) return undefined
  const key = times + timesBytes
  const tail = key + view.getUint16(times + 12)
  if (tail + tailBytes > end || tail + tailBytes + view.getUint16(tail) !== end) return undefined
  return {
    keyName,
    algorithmName: foldName(algorithm.wire),
    inceptionSeconds: view.getUint32(times),
    expirationSeconds: view.getUint32(times + 4),
    mode: view.getUint16(times + 8),
    error: view.getUint16(times + 10),
    // A copy, also of a Buffer: it is looked at later.
    key: Uint8Array.from(message.subarray(key, tail)),
  }
}

/** Octets that `writeTkey` writes. */
export function tkeyBytes({ keyName, algorithmName, key }: TkeyRecord): number {
  return keyName.length + fixedBytes + algorithmName.length + timesBytes + key.length + tailBytes
}

/**
 * @param into with room for `tkeyBytes` octets from `at` on
 * @returns where the record ends
 */
export function writeTkey(into: Uint8Array, at: number, record: TkeyRecord): number {
  const { keyName, algorithmName, key } = record
  const view = new DataView(into.buffer, into.byteOffset, into.length)
  into.set(keyName, at)
  const fixed = at + keyName.length
  view.setUint16(fixed, RrType.TKEY)
  view.setUint16(fixed + 2, QClass.Any)
  view.setUint32(fixed + 4, 0)
  view.setUint16(fixed + 8, algorithmName.length + timesBytes + key.length + tailBytes)
  into.set(algorithmName, fixed + fixedBytes)
  const times = fixed + fixedBytes + algorithmName.length
  view.setUint32(times, record.inceptionSeconds)
  view.setUint32(times + 4, record.expirationSeconds)
  view.setUint16(times + 8, record.mode)
  view.setUint16(times + 10, record.error)
  view.setUint16(times + 12, key.length)
  into.set(key, times + timesBytes)
  const tail = times + timesBytes + key.length
  view.setUint16(tail, 0)
  return tail + tailBytes
}
