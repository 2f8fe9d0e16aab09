// Computes the MAC of a message. RFC 8945 sections 4.3 and 5.3.1.
import { createHmac, timingSafeEqual } from 'node:crypto'
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
  const { context, algorithm, secret } = input.key
  if (context !== undefined) return context.sign(Buffer.concat([...partsOf(input)]))
  const hmac = createHmac(algorithm.hash, secret)
  for (const part of partsOf(input)) hmac.update(part)
  return hmac.digest()
}

/** Whether the whole MAC, or the truncated one, was made by the other end. */
export function isTsigMac(input: DigestInput, mac: Uint8Array): boolean {
  const { context } = input.key
  if (context !== undefined) return context.verifies(Buffer.concat([...partsOf(input)]), mac)
  const whole = tsigMac(input)
  return mac.length <= whole.length && timingSafeEqual(whole.subarray(0, mac.length), mac)
}

/** What the MAC covers, in order. */
function* partsOf(input: DigestInput): Generator<Uint8Array> {
  const { key, priorMac, messages, variables, isTimesOnly } = input
  if (priorMac.length > 0) yield* [uint16(priorMac.length), priorMac]
  for (const { octets, id, arCount } of messages) {
    const header = Buffer.from(octets.subarray(0, HeaderOffset.End))
    header.writeUInt16BE(id, HeaderOffset.Id)
    header.writeUInt16BE(arCount, HeaderOffset.ArCount)
    yield* [header, octets.subarray(HeaderOffset.End)]
  }
  if (!isTimesOnly) yield* [key.name, classAndTtl, key.algorithm.wire]
  yield timesOf(variables)
  if (!isTimesOnly) {
    yield* [uint16(variables.error), uint16(variables.other.length), variables.other]
  }
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
