// Checks the signatures of the replies to a signed request, which may be many messages. RFC 8945
// sections 5.3.1 and 5.4.
import { HeaderOffset } from '#dns/header.ts'
import { formatName, sameOctets } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { unsignedMax } from './sign-message.ts'
import { isTsigMac } from './tsig-digest.ts'
import type { DigestedMessage } from './tsig-digest.ts'
import { TsigError, tsigFudgeSeconds } from './tsig-key.ts'
import type { TsigKey } from './tsig-key.ts'
import { readTsig } from './tsig-record.ts'
import type { TsigRecord } from './tsig-record.ts'

/** For one request; messages are given in the order of their arrival. */
export class ReplyCheck {
  readonly #key: TsigKey
  #mac: Uint8Array
  #isFirst = true
  #unsigned: DigestedMessage[] = []

  /** @param requestMac MAC of the request */
  constructor(key: TsigKey, requestMac: Uint8Array) {
    this.#key = key
    this.#mac = requestMac
  }

  /** False: messages that were taken last have no signature, and must not be the last ones. */
  get isSigned(): boolean {
    return !this.#isFirst && this.#unsigned.length === 0
  }

  /** Errors: half a sentence on what the server did. */
  take(message: Uint8Array, nowSeconds: number): Result<null, string> {
    const record = readTsig(message)
    if (record === 'malformed') return err('sends a message that is no DNS message')
    if (record === null) return this.#takeUnsigned(message)
    const refusal = refusalIn(record, this.#key)
    if (refusal !== undefined) return err(refusal)
    const octets = message.subarray(0, record.at)
    const arCount = (message[HeaderOffset.ArCount]! << 8) + message[HeaderOffset.ArCount + 1]! - 1
    const { mac } = record
    const messages = [...this.#unsigned, { octets, id: record.originalId, arCount }]
    const input = {
      ...{ key: this.#key, priorMac: this.#mac, messages },
      ...{ variables: record, isTimesOnly: !this.#isFirst },
    }
    // A truncated MAC is refused, as in requests. RFC 8945 section 5.2.4.
    if (mac.length !== this.#key.algorithm.macBytes || !isTsigMac(input, mac)) {
      return err('signs with another secret than that of the key here')
    }
    const skewSeconds = Math.abs(nowSeconds - record.timeSeconds)
    if (skewSeconds > Math.min(record.fudgeSeconds, tsigFudgeSeconds)) {
      return err(`signs with a clock that is ${skewSeconds} s from that of this node`)
    }
    this.#mac = mac
    this.#isFirst = false
    this.#unsigned = []
    return ok(null)
  }

  #takeUnsigned(message: Uint8Array): Result<null, string> {
    if (this.#isFirst) return err('answers without a signature')
    if (this.#unsigned.length >= unsignedMax) {
      return err(`sends more than ${unsignedMax} messages without a signature`)
    }
    const view = new DataView(message.buffer, message.byteOffset, message.length)
    this.#unsigned.push({
      octets: new Uint8Array(message),
      id: view.getUint16(HeaderOffset.Id),
      arCount: view.getUint16(HeaderOffset.ArCount),
    })
    return ok(null)
  }
}

/** @returns what the other server says of the key, or undefined: nothing against it */
export function refusalIn(record: TsigRecord, key: TsigKey): string | undefined {
  const name = formatName(key.name)
  if (record.error === TsigError.BadKey) return `does not know the key ${name} (BADKEY)`
  if (record.error === TsigError.BadSig) {
    return `has another secret or algorithm for the key ${name} (BADSIG)`
  }
  if (record.error === TsigError.BadTime) return 'has a clock that is far from ours (BADTIME)'
  if (record.error !== TsigError.None) return `refuses the signature (error ${record.error})`
  const isOurs =
    sameOctets(record.keyName, key.name) && sameOctets(record.algorithmName, key.algorithm.wire)
  return isOurs ? undefined : `answers with another key than ${name}`
}
