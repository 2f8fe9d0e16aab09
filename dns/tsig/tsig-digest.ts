// Computes the MAC of a message. RFC 8945 sections 4.3 and 5.3.1.
import { createHmac } from 'node:crypto'
import { HeaderOffset, QClass } from '#dns/header.ts'
import type { TsigKey } from './tsig-key.ts'

/** Fields of the TSIG record that the MAC covers, besides the names of key and algorithm. */
export interface TsigVariables {
  readonly timeSeconds: number
  readonly fudgeSeconds: number
  /** `TsigError` in what we send. */
  readonly error: number
  readonly other: Uint8Array
}

export interface DigestedMessage {
  /** The message without the TSIG record at its end. */
  readonly octets: Uint8Array
  /** Replaces the id in the header. */
  readonly id: number
  /** Replaces the count in the header: the TSIG record is not counted. */
  readonly arCount: number
}

interface DigestInput {
  readonly key: TsigKey
  /** MAC of the request or of the previous message; empty for a request. */
  readonly priorMac: Uint8Array
  /** The last message carries the MAC; the messages before it have none. */
  readonly messages: readonly DigestedMessage[]
  readonly variables: TsigVariables
  /** From the second MAC of an exchange on, the MAC covers the times alone. */
  readonly isTimesOnly: boolean
}

/** The MAC in full length. */
export function tsigMac(input: DigestInput): Uint8Array {
  const { key, priorMac, messages, variables, isTimesOnly } = input
  const hmac = createHmac(key.algorithm.hash, key.secret)
  if (priorMac.length > 0) hmac.update(uint16(priorMac.length)).update(priorMac)
  for (const { octets, id, arCount } of messages) {
    const header = Buffer.from(octets.subarray(0, HeaderOffset.End))
    header.writeUInt16BE(id, HeaderOffset.Id)
    header.writeUInt16BE(arCount, HeaderOffset.ArCount)
    hmac.update(header).update(octets.subarray(HeaderOffset.End))
  }
  if (!isTimesOnly) hmac.update(key.name).update(classAndTtl).update(key.algorithm.wire)
  hmac.update(timesOf(variables))
  if (!isTimesOnly) {
    hmac.update(uint16(variables.error)).update(uint16(variables.other.length))
    hmac.update(variables.other)
  }
  return hmac.digest()
}

const classAndTtl = Uint8Array.of(0, QClass.Any, 0, 0, 0, 0)

/** Six octets of time and two of fudge, as in the record. */
export function timesOf({
  timeSeconds,
  fudgeSeconds,
}: Pick<TsigVariables, 'timeSeconds' | 'fudgeSeconds'>): Uint8Array {
  const octets = Buffer.alloc(8)
  octets.writeUIntBE(timeSeconds, 0, 6)
  octets.writeUInt16BE(fudgeSeconds, 6)
  return octets
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value & 0xff)
}
