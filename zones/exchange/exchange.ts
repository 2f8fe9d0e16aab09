// Answers messages that the fast path hands over: signed ones, transfers and updates. RFC 8945, RFC
// 5936, RFC 2136.
import { setImmediate } from 'node:timers/promises'
import { assert } from '#lib/assert.ts'
import { Flag1, Flag2, HeaderOffset, Opcode } from '#dns/header.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import { checkTsig } from '#dns/tsig/check-tsig.ts'
import {
  appendUnproven,
  MessageSigner,
  tsigBytes,
  tsigBytesMax,
  unprovenBytes,
} from '#dns/tsig/sign-message.ts'
import { TsigError } from '#dns/tsig/tsig-key.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import type { TsigRecord } from '#dns/tsig/tsig-record.ts'
import { CookieKind } from '#answer/cookies/cookie-jar.ts'
import { answer, sizeLimit } from '#answer/answer.ts'
import { writeOpt } from '#answer/edns.ts'
import { findName } from '#answer/lookup.ts'
import { readMessage } from '#answer/message.ts'
import { Transport } from '#answer/transaction.ts'
import type { Transaction } from '#answer/transaction.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import type { LongReply } from '#system/sockets/long-reply.ts'
import { notYet } from '#zones/transfer/transfer-messages.ts'
import type { RunningTransfer, Transfers } from '#zones/transfer/transfers.ts'
import type { ZoneSource } from '#zones/transfer/zone-source.ts'
import { appendOpt } from './explained-opt.ts'
import { SignedUpdates } from './signed-updates.ts'
import type { SignedUpdate } from './signed-updates.ts'
import { readMessageName } from '#dns/message-name.ts'

export interface ExchangeKey extends TsigKey {
  readonly id: string
  /** Wire form, in lower case: the key is for this name and names below. null: for all names. */
  readonly scope: Uint8Array | null
  /** Whether zones within the scope may be transferred with it. */
  readonly mayTransfer: boolean
}

export interface ExchangeParts {
  /** @param name in wire form and lower case */
  readonly findKey: (name: Uint8Array) => ExchangeKey | undefined
  readonly nowSeconds: () => number
  readonly transfers: Transfers
  /** undefined before the first bundle. */
  readonly source: () => ZoneSource | undefined
  /**
   * @param message without its signature.
   * @returns when the update is durable and in force
   */
  readonly update: (message: Uint8Array, key: ExchangeKey) => Promise<UpdateOutcome>
  /**
   * @param client its address
   * @returns when the NOTIFY message has its outcome
   */
  readonly notice: (message: Uint8Array, client: Uint8Array) => Promise<Rcode>
}

/** Counts since the start. */
export interface ExchangeCounts {
  /** Messages with a valid signature. */
  signed: number
  /** Updates among them that were seen before: a repeated datagram, or a replay. */
  repeated: number
  malformed: number
  badKey: number
  badSignature: number
  badTime: number
  badTruncation: number
}

/** `tx` has the transport, the client's address and the tokens of the message. */
export class Exchange {
  readonly #parts: ExchangeParts
  readonly #updates = new SignedUpdates()
  readonly counts: ExchangeCounts = {
    signed: 0,
    repeated: 0,
    malformed: 0,
    badKey: 0,
    badSignature: 0,
    badTime: 0,
    badTruncation: 0,
  }

  constructor(parts: ExchangeParts) {
    this.#parts = parts
  }

  /**
   * @param message for which `answer` returned `handedOver`
   * @param into 65,535 octets, not those of the message
   * @returns octets of the reply, or its generator
   */
  handle(tx: Transaction, message: Uint8Array, into: Uint8Array): number | LongReply {
    const check = checkTsig(message, this.#parts.findKey, this.#parts.nowSeconds())
    if (check.is === 'unsigned') return this.#handlePlain(tx, message, into, null)
    if (check.is === 'malformed') {
      this.counts.malformed++
      return this.#bare(tx, message, Rcode.FormErr, into)
    }
    const { record } = check
    if (check.is === 'unproven') return this.#unproven(tx, message, record, check.error, into)
    if (check.is === 'refused') return this.#refuse(tx, message, into, check, check.error)
    if (opcodeOf(message) === Opcode.Update) {
      const known = this.#updates.find(signedUpdateOf(check))
      if (known === 'too-old') return this.#refuse(tx, message, into, check, TsigError.BadTime)
    }
    this.counts.signed++
    const signer = new MessageSigner(check.key, record.mac)
    const reply = this.#handlePlain(tx, unsigned(message, record), into, check)
    const sign = (octets: Uint8Array, length: number): number =>
      length > 0 ? signer.sign(octets, length, this.#parts.nowSeconds()) : length
    if (typeof reply === 'number') return sign(into, reply)
    return {
      next: (octets) => {
        const length = reply.next(octets)
        if (typeof length === 'number') return sign(octets, length)
        return length.then((awaited) => sign(octets, awaited))
      },
      end: reply.end,
    }
  }

  /** The MAC is right, but the message is refused, and the reply signed. */
  #refuse(
    tx: Transaction,
    message: Uint8Array,
    into: Uint8Array,
    { key, record }: Signature,
    error: TsigError,
  ): number {
    const isTime = error === TsigError.BadTime
    if (isTime) this.counts.badTime++
    else this.counts.badTruncation++
    const length = this.#bare(tx, message, Rcode.NotAuth, into)
    const refused = isTime ? TsigError.BadTime : TsigError.BadTrunc
    const signer = new MessageSigner(key, record.mac)
    return signer.signRefusal(into, length, record, refused, this.#parts.nowSeconds())
  }

  /**
   * @param message without its signature
   * @param signature null: unsigned
   */
  #handlePlain(
    tx: Transaction,
    message: Uint8Array,
    into: Uint8Array,
    signature: Signature | null,
  ): number | LongReply {
    const opcode = opcodeOf(message)
    // Octets reserved for the signature of the reply.
    const reserved = signature === null ? 0 : tsigBytesMax(signature.key)
    if (opcode === Opcode.Update && signature !== null && tx.takesUpdates) {
      return this.#update(tx, message, into, signature, reserved)
    }
    if (opcode === Opcode.Notify && tx.takesUpdates) {
      return this.#notice(tx, message, into, reserved)
    }
    if (opcode === Opcode.Query) {
      const reply = this.#transfer(tx, message, into, signature?.key ?? null, reserved)
      if (reply !== undefined) return reply
    }
    return answerQuery(tx, message, into, reserved)
  }

  /** @returns undefined: the message is not a transfer */
  #transfer(
    tx: Transaction,
    message: Uint8Array,
    into: Uint8Array,
    key: ExchangeKey | null,
    reserved: number,
  ): number | LongReply | undefined {
    tx.reset()
    tx.bind(message, into)
    const questionEnd = readMessage(tx, message, 0, message.length, Opcode.Query)
    const { qtype, qclass } = tx
    // Secondaries first ask for the SOA of the catalog zone, which no bundle has.
    if (!tx.isForHandler) return undefined
    const zone = apexZone(tx)
    if (qtype === RrType.SOA && zone >= 0) return undefined
    if (tx.ednsVersion !== 0) return this.#bare(tx, message, Rcode.BadVers, into)
    const opt = optOf(tx, into)
    const room = sizeLimit(tx) - reserved
    const running = this.#parts.transfers.start(this.#parts.source(), {
      ...{ message, qtype, questionEnd, opt, qclass, key, zone },
      isTcp: tx.transport === Transport.Tcp,
      client: clientOf(tx),
    })
    if (typeof running === 'number') {
      // Like any other query, it gets an OPT record.
      const length = answerQuery(tx, message, into, reserved)
      into[HeaderOffset.Flags2] = (into[HeaderOffset.Flags2]! & ~Flag2.RcodeMask) | running
      return length
    }
    tx.counters.query(tx.transport, tx.cookieKind)
    tx.counters.reply(Rcode.NoError, qtype)
    return {
      next: (octets) => writeNext(running, octets, Math.min(room, octets.length - reserved)),
      end: running.end,
    }
  }

  /** Like any other reply, that to a NOTIFY message has an OPT record and a cookie. */
  #notice(tx: Transaction, message: Uint8Array, into: Uint8Array, reserved: number): LongReply {
    const client = clientOf(tx)
    const length = answerQuery(tx, message, into, reserved)
    const reply = into.slice(0, length)
    let isDone = false
    return {
      next: (octets) => {
        if (isDone) return 0
        isDone = true
        return this.#parts.notice(message, client).then((rcode) => {
          octets.set(reply)
          octets[HeaderOffset.Flags2] = (reply[HeaderOffset.Flags2]! & ~Flag2.RcodeMask) | rcode
          return length
        })
      },
      end: () => undefined,
    }
  }

  /** Answers when it is known what came of the update. */
  #update(
    tx: Transaction,
    message: Uint8Array,
    into: Uint8Array,
    signature: Signature,
    reserved: number,
  ): number | LongReply {
    readForOpt(tx, message, into)
    if (tx.ednsVersion !== 0) return this.#bare(tx, message, Rcode.BadVers, into)
    const paddedFor = tx.wantsPadding ? tsigBytes(signature.key) : undefined
    const opt = optOf(tx, into)
    const room = sizeLimit(tx) - reserved
    const { counters, transport } = tx
    counters.query(transport, CookieKind.None)
    let isDone = false
    return {
      next: (octets) => {
        if (isDone) return 0
        isDone = true
        return this.#outcome(message, signature).then((outcome) => {
          counters.reply(outcome.rcode, 0)
          const head = writeHead(message, outcome.rcode, octets)
          return opt.length === 0 ? head : appendOpt(octets, head, opt, outcome, room, paddedFor)
        })
      },
      end: () => undefined,
    }
  }

  /** Carries out an update; a repeated one gets the outcome of the first time. */
  #outcome(message: Uint8Array, signature: Signature): Promise<UpdateOutcome> {
    const signed = signedUpdateOf(signature)
    const known = this.#updates.find(signed)
    if (typeof known !== 'string') {
      this.counts.repeated++
      return known
    }
    const outcome = this.#parts.update(message, signature.key)
    this.#updates.remember(signed, outcome, this.#parts.nowSeconds())
    return outcome
  }

  #unproven(
    tx: Transaction,
    message: Uint8Array,
    record: TsigRecord,
    error: TsigError,
    into: Uint8Array,
  ): number {
    if (error === TsigError.BadKey) this.counts.badKey++
    else this.counts.badSignature++
    const opcode = opcodeOf(message)
    const isUnknown = this.#parts.findKey(record.keyName) === undefined
    // An update by an unknown key is refused like an unsigned one.
    const rcode = opcode === Opcode.Update && isUnknown ? Rcode.Refused : Rcode.NotAuth
    const length = this.#bare(tx, message, rcode, into)
    assert(length + unprovenBytes(record) <= into.length, 'a reply without records is short')
    return appendUnproven(into, length, record, error)
  }

  /** Counts the message and its reply, which has no records but OPT. */
  #bare(tx: Transaction, message: Uint8Array, rcode: Rcode, into: Uint8Array): number {
    const head = writeHead(message, rcode & Flag2.RcodeMask, into)
    const length = writeItsOpt(tx, message, into, head, rcode)
    tx.counters.query(tx.transport, tx.cookieKind)
    tx.counters.reply(rcode, tx.qtype)
    return length
  }
}

/** A TSIG record that has been verified, and its key. */
interface Signature {
  readonly key: ExchangeKey
  readonly record: TsigRecord
}

const signedUpdateOf = ({ key, record: { mac, timeSeconds } }: Signature): SignedUpdate => ({
  keyId: key.id,
  mac,
  timeSeconds,
})

function clientOf({ source, sourceAt, sourceBytes }: Transaction): Uint8Array {
  return source.slice(sourceAt, sourceAt + sourceBytes)
}

function opcodeOf(message: Uint8Array): number {
  return (message[HeaderOffset.Flags1]! & Flag1.OpcodeMask) >> 3
}

/** A message with OPT gets a reply with OPT, even with an error. RFC 6891 section 6.1.1. */
function writeItsOpt(
  tx: Transaction,
  message: Uint8Array,
  into: Uint8Array,
  length: number,
  rcode: number,
): number {
  readForOpt(tx, message, into)
  if (!tx.hasOpt) return length
  // Overrides the rcode that the form of the message called for.
  tx.rcode = rcode
  tx.replyStart = 0
  tx.at = length
  writeOpt(tx, into.length)
  into[HeaderOffset.ArCount + 1] = 1
  return tx.at
}

/** Reads a message for the OPT record of its reply; the reason for an error is the caller's. */
function readForOpt(tx: Transaction, message: Uint8Array, into: Uint8Array): void {
  tx.reset()
  tx.bind(message, into)
  readMessage(tx, message, 0, message.length, opcodeOf(message))
  if (tx.takesUpdates) tx.extendedError = -1
}

/** The OPT record of a reply, after its message was read; empty: none. */
function optOf(tx: Transaction, into: Uint8Array): Uint8Array {
  if (!tx.hasOpt) return none
  tx.replyStart = 0
  tx.at = 0
  // The same record serves messages of different lengths, so it is not padded.
  tx.wantsPadding = false
  writeOpt(tx, into.length)
  return into.slice(0, tx.at)
}

const none = new Uint8Array(0)

/** A zone may take long to walk: between two steps the thread does other work. */
function writeNext(
  running: RunningTransfer,
  octets: Uint8Array,
  room: number,
): number | Promise<number> {
  const length = running.write(octets, room)
  return length === notYet ? writeLater(running, octets, room) : length
}

async function writeLater(
  running: RunningTransfer,
  octets: Uint8Array,
  room: number,
): Promise<number> {
  let length: number = notYet
  while (length === notYet) {
    await setImmediate()
    length = running.write(octets, room)
  }
  return length
}

/** The fast path's answer, without transfers and signatures. */
function answerQuery(
  tx: Transaction,
  message: Uint8Array,
  into: Uint8Array,
  reserved: number,
): number {
  const { limiter } = tx
  tx.handsOver = false
  // Signed messages and those over TCP are not rate-limited.
  tx.limiter = null
  tx.reservedBytes = reserved
  const length = answer(tx, message, 0, message.length, into, 0, into.length - reserved)
  tx.handsOver = true
  tx.limiter = limiter
  tx.reservedBytes = 0
  return length
}

/** The message without its TSIG record. */
function unsigned(message: Uint8Array, record: TsigRecord): Uint8Array {
  const plain = Buffer.from(message.subarray(0, record.at))
  plain.writeUInt16BE(plain.readUInt16BE(HeaderOffset.ArCount) - 1, HeaderOffset.ArCount)
  return plain
}

/** Row in `zoneNode` of the zone in the question, or -1. */
function apexZone(tx: Transaction): number {
  const bundle = tx.view?.bundle
  if (bundle === undefined) return -1
  const node = findName(tx, bundle)
  if (node < 0 || (nodeFlags(bundle, node) & NodeFlag.Apex) === 0) return -1
  return zoneOfNode(bundle, node)
}

/** Writes the header and the question of a reply without records. @returns octets written */
function writeHead(message: Uint8Array, rcode: number, into: Uint8Array): number {
  const flags = message[HeaderOffset.Flags1]!
  const questionEnd = endOfQuestion(message)
  into.set(message.subarray(0, questionEnd))
  into[HeaderOffset.Flags1] = Flag1.Qr | (flags & (Flag1.OpcodeMask | Flag1.Rd))
  into[HeaderOffset.Flags2] = rcode
  into.fill(0, HeaderOffset.QdCount, HeaderOffset.End)
  if (questionEnd > HeaderOffset.End) into[HeaderOffset.QdCount + 1] = 1
  return questionEnd
}

/** End of the question; of the header where there is no question, several, or an unreadable one. */
function endOfQuestion(message: Uint8Array): number {
  const opcode = (message[HeaderOffset.Flags1]! & Flag1.OpcodeMask) >> 3
  const isOne = message[HeaderOffset.QdCount] === 0 && message[HeaderOffset.QdCount + 1] === 1
  const isAsking = opcode === Opcode.Query || opcode === Opcode.Notify
  if (!isAsking || !isOne) return HeaderOffset.End
  const name = readMessageName(message, HeaderOffset.End)
  // A pointer is invalid here: no name stands before the question.
  const isWhole = name !== undefined && name.end - HeaderOffset.End === name.wire.length
  return isWhole && name.end + 4 <= message.length ? name.end + 4 : HeaderOffset.End
}
