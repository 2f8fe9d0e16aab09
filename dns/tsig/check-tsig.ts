// Checks the signature of a request, in the order of RFC 8945 section 5.2.
import { HeaderOffset } from '#dns/header.ts'
import { sameOctets } from '#dns/name.ts'
import { isTsigMac } from './tsig-digest.ts'
import { TsigError, tsigFudgeSeconds } from './tsig-key.ts'
import type { TsigKey } from './tsig-key.ts'
import { readTsig } from './tsig-record.ts'
import type { TsigRecord } from './tsig-record.ts'

/**
 * @param name in wire form and lower case.
 * @returns undefined: there is no such key
 */
export type FindKey<Key extends TsigKey> = (name: Uint8Array) => Key | undefined

export type TsigCheck<Key extends TsigKey> =
  | { readonly is: 'unsigned' }
  /** The answer is FORMERR, unsigned. */
  | { readonly is: 'malformed' }
  /** The key is unknown, or the MAC is not made with it: the answer must not be signed. */
  | { readonly is: 'unproven'; readonly error: TsigError; readonly record: TsigRecord }
  /** The MAC is right, but the request is refused: the answer is signed. */
  | {
      readonly is: 'refused'
      readonly error: TsigError
      readonly record: TsigRecord
      readonly key: Key
    }
  | { readonly is: 'signed'; readonly record: TsigRecord; readonly key: Key }

/**
 * RFC 8945 section 5.2.2.1: a truncated MAC has at least this many octets, and at least half of the
 * whole.
 */
const macBytesMin = 10

/** @param message whole and unchanged: the MAC covers each octet */
export function checkTsig<Key extends TsigKey>(
  message: Uint8Array,
  find: FindKey<Key>,
  nowSeconds: number,
): TsigCheck<Key> {
  const record = readTsig(message)
  if (record === null) return { is: 'unsigned' }
  if (record === 'malformed') return { is: 'malformed' }
  const key = find(record.keyName)
  if (key === undefined || !sameOctets(key.algorithm.wire, record.algorithmName)) {
    return { is: 'unproven', error: TsigError.BadKey, record }
  }
  const { macBytes } = key.algorithm
  const { mac } = record
  const isWhole = key.context !== undefined || mac.length === macBytes
  if (!isWhole && (mac.length > macBytes || mac.length < Math.max(macBytesMin, macBytes / 2))) {
    // RFC 8945 section 5.2.2.1: no sender may use this length.
    return { is: 'malformed' }
  }
  const octets = message.subarray(0, record.at)
  const arCount = (message[HeaderOffset.ArCount]! << 8) + message[HeaderOffset.ArCount + 1]! - 1
  const input = {
    ...{ key, priorMac: none, messages: [{ octets, id: record.originalId, arCount }] },
    ...{ variables: record, isTimesOnly: false },
  }
  if (!isTsigMac(input, mac)) return { is: 'unproven', error: TsigError.BadSig, record }
  const skewSeconds = Math.abs(nowSeconds - record.timeSeconds)
  if (skewSeconds > Math.min(record.fudgeSeconds, tsigFudgeSeconds)) {
    return { is: 'refused', error: TsigError.BadTime, record, key }
  }
  // RFC 8945 section 5.2.4 lets a server refuse truncated MACs; this one does.
  if (!isWhole) return { is: 'refused', error: TsigError.BadTrunc, record, key }
  return { is: 'signed', record, key }
}

const none = new Uint8Array(0)
