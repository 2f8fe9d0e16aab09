// Signs messages with TSIG: requests, answers, and all messages of a transfer. RFC 8945 sections
// 5.3 and 5.4.
import { assert } from '#lib/assert.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { RrType } from '#dns/rrtype.ts'
import { timesOf, tsigMac } from './tsig-digest.ts'
import type { DigestedMessage, TsigVariables } from './tsig-digest.ts'
import { TsigError, tsigFudgeSeconds } from './tsig-key.ts'
import type { TsigKey } from './tsig-key.ts'
import type { TsigRecord } from './tsig-record.ts'

/** Messages without a signature between two that have one. RFC 8945 section 5.3.1. */
export const unsignedMax = 99

/** Six octets of the server's time. RFC 8945 section 5.2.3. */
const timeBytes = 6

/** Octets that a signature adds to a message. */
export function tsigBytes({ name, algorithm }: TsigKey, macBytes = algorithm.macBytes): number {
  return name.length + 10 + algorithm.wire.length + 16 + macBytes
}

/** The same with the other data of BADTIME. */
export const tsigBytesMax = (key: TsigKey): number => tsigBytes(key) + timeBytes

/** Signs the messages of one direction of one exchange, in the order in which they are sent. */
export class MessageSigner {
  readonly #key: TsigKey
  #mac: Uint8Array
  #isFirst = true
  #unsigned: DigestedMessage[] = []

  /** @param requestMac MAC of the request that is answered; left out when signing a request */
  constructor(key: TsigKey, requestMac: Uint8Array = none) {
    this.#key = key
    this.#mac = requestMac
  }

  /**
   * Appends the TSIG record and counts it in the header.
   *
   * @param message with room for `tsigBytesMax` octets behind `length`
   * @returns its new length
   */
  sign(message: Uint8Array, length: number, nowSeconds: number): number {
    const times = { timeSeconds: nowSeconds, fudgeSeconds: tsigFudgeSeconds }
    return this.#sign(message, length, { ...times, error: TsigError.None, other: none })
  }

  /**
   * Signs the refusal of a request whose MAC is right but whose time or MAC length is not. The
   * record has the client's time, and ours as other data.
   */
  signRefusal(
    message: Uint8Array,
    length: number,
    { timeSeconds, fudgeSeconds }: TsigRecord,
    error: typeof TsigError.BadTime | typeof TsigError.BadTrunc,
    nowSeconds: number,
  ): number {
    const other =
      error === TsigError.BadTime ? timesOf({ timeSeconds: nowSeconds, fudgeSeconds }) : none
    const times = { timeSeconds, fudgeSeconds }
    return this.#sign(message, length, { ...times, error, other: other.subarray(0, timeBytes) })
  }

  /** Counts a message that is sent unsigned: at most `unsignedMax` in a row. */
  skip(message: Uint8Array, length: number): void {
    assert(!this.#isFirst, 'the first message of an answer is signed')
    assert(this.#unsigned.length < unsignedMax, 'a client would wait no longer for a signature')
    this.#unsigned.push(digested(new Uint8Array(message.subarray(0, length)), length))
  }

  #sign(message: Uint8Array, length: number, variables: TsigVariables): number {
    const mac = tsigMac({
      key: this.#key,
      priorMac: this.#mac,
      messages: [...this.#unsigned, digested(message, length)],
      variables,
      isTimesOnly: !this.#isFirst,
    })
    this.#unsigned = []
    this.#isFirst = false
    this.#mac = mac
    const { name, algorithm } = this.#key
    return append(message, length, name, algorithm.wire, variables, mac)
  }
}

/**
 * Appends a record without a MAC: the key of the request is unknown or its MAC wrong. RFC 8945
 * section 5.3.2.
 *
 * @returns the new length of the message
 */
export function appendUnproven(
  message: Uint8Array,
  length: number,
  { keyName, algorithmName, timeSeconds, fudgeSeconds }: TsigRecord,
  error: TsigError,
): number {
  const variables = { timeSeconds, fudgeSeconds, error, other: none }
  return append(message, length, keyName, algorithmName, variables, none)
}

/** Octets that `appendUnproven` adds. */
export function unprovenBytes({ keyName, algorithmName }: TsigRecord): number {
  return keyName.length + 10 + algorithmName.length + 16
}

const none = new Uint8Array(0)

function digested(message: Uint8Array, length: number): DigestedMessage {
  return {
    octets: message.subarray(0, length),
    id: uint16At(message, HeaderOffset.Id),
    arCount: uint16At(message, HeaderOffset.ArCount),
  }
}

function append(
  message: Uint8Array,
  length: number,
  keyName: Uint8Array,
  algorithmName: Uint8Array,
  variables: TsigVariables,
  mac: Uint8Array,
): number {
  const { error, other } = variables
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  let at = length
  const put = (octets: Uint8Array): void => {
    message.set(octets, at)
    at += octets.length
  }
  const put16 = (value: number): void => {
    view.setUint16(at, value)
    at += 2
  }
  put(keyName)
  put16(RrType.TSIG)
  put16(QClass.Any)
  put(noTtl)
  put16(algorithmName.length + 16 + mac.length + other.length)
  put(algorithmName)
  put(timesOf(variables))
  put16(mac.length)
  put(mac)
  put16(view.getUint16(HeaderOffset.Id))
  put16(error)
  put16(other.length)
  put(other)
  view.setUint16(HeaderOffset.ArCount, view.getUint16(HeaderOffset.ArCount) + 1)
  return at
}

const noTtl = new Uint8Array(4)

function uint16At(octets: Uint8Array, at: number): number {
  return (octets[at]! << 8) | octets[at + 1]!
}
