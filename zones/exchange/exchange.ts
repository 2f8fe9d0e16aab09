// Answers messages that the fast path hands over: signed ones, transfers, updates, and those that
// agree on keys. RFC 8945, RFC 5936, RFC 2136, RFC 2930.
import { setImmediate } from 'node:timers/promises'
import { assert } from '#lib/assert.ts'
import { Flag1, Flag2, HeaderOffset, Opcode } from '#dns/header.ts'
import { sameOctets } from '#dns/name.ts'
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
import { gssTsig } from '#dns/tsig/tsig-algorithms.ts'
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
import { readTkey } from '#dns/tkey/tkey-record.ts'
import type { KeyExchange } from '#zones/gss/key-exchange.ts'
import { appendOpt } from './explained-opt.ts'
import { appendTkey } from './tkey-reply.ts'
import { opcodeOf, writeHead } from './reply-head.ts'
import { SignedUpdates } from './signed-updates.ts'
import type { SignedUpdate } from './signed-updates.ts'

export interface ExchangeKey extends TsigKey {
  readonly id: string
  /** Wire form, in lower case: the key is for this name and names below. null: for all names. */
  readonly scope: Uint8Array | null
  /** Whether zones within the scope may be transferred with it. */
  readonly mayTransfer: boolean
  /** The client, which has proven by Kerberos who it is; left out: the key is of the store. */
  readonly principal?: string
}

interface ExchangeParts {
  /** @param name in wire form and lower case */
  readonly findKey: (name: Uint8Array) => ExchangeKey | undefined
  /** Agrees on keys with clients; undefined: it is off. */
  readonly keyExchange: KeyExchange | undefined
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
    const check = checkTsig(message, this.#findKey, this.#parts.nowSeconds())
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
    const release = this.#hold(check.key)
    const signer = new MessageSigner(check.key, record.mac)
    const reply = this.#handlePlain(tx, unsigned(message, record), into, check)
    const sign = (octets: Uint8Array, length: number): number =>
      length > 0 ? signer.sign(octets, length, this.#parts.nowSeconds()) : length
    if (typeof reply === 'number') {
      const length = sign(into, reply)
      release()
      return length
    }
    return {
      next: (octets) => {
        const length = reply.next(octets)
        if (typeof length === 'number') return sign(octets, length)
        return length.then((awaited) => sign(octets, awaited)).finally(release)
      },
      end: () => {
        reply.end()
        release()
      },
    }
  }

  readonly #findKey = (name: Uint8Array): ExchangeKey | undefined =>
    this.#parts.findKey(name) ?? this.#parts.keyExchange?.find(name)

  /** Keeps a key that was agreed on until the reply is signed. @returns what ends that */
  #hold({ name, principal }: ExchangeKey): () => void {
    const { keyExchange } = this.#parts
    return principal === undefined || keyExchange === undefined
      ? () => undefined
      : keyExchange.hold(name)
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
      const reply = this.#query(tx, message, into, signature?.key ?? null, reserved)
      if (reply !== undefined) return reply
    }
    return answerQuery(tx, message, into, reserved)
  }

  /** @returns undefined: the message asks neither for a transfer nor for a key */
  #query(
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
    if (qtype === RrType.TKEY) return this.#agree(tx, message, into, key)
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

  /** Agrees on a key, or deletes one. @param key that has signed the message; null: none */
  #agree(
    tx: Transaction,
    message: Uint8Array,
    into: Uint8Array,
    key: ExchangeKey | null,
  ): number | LongReply {
    const { keyExchange, nowSeconds } = this.#parts
    if (keyExchange === undefined) return this.#bare(tx, message, Rcode.Refused, into)
    if (tx.ednsVersion !== 0) return this.#bare(tx, message, Rcode.BadVers, into)
    if (tx.transport !== Transport.Tcp) {
      // The work is done for clients whose address is theirs; tokens are long anyway.
      const length = this.#bare(tx, message, Rcode.NoError, into)
      into[HeaderOffset.Flags1]! |= Flag1.Tc
      return length
    }
    const record = readTkey(message)
    if (record === undefined) return this.#bare(tx, message, Rcode.FormErr, into)
    const opt = optOf(tx, into)
    const { counters, transport } = tx
    counters.query(transport, CookieKind.None)
    const query = { record, client: clientOf(tx), signer: key?.name }
    let isDone = false
    const answered = async (octets: Uint8Array): Promise<number> => {
      const reply = await keyExchange.reply(query)
      try {
        const head = writeHead(message, reply.rcode, octets)
        counters.reply(reply.rcode, RrType.TKEY)
        return appendTkey(octets, head, opt, reply, key !== null, nowSeconds())
      } finally {
        reply.release()
      }
    }
    return {
      next: (octets) => {
        if (isDone) return 0
        isDone = true
        return answered(octets)
      },
      end: () => undefined,
    }
  }

  /** Like any other reply, that to a NOTIFY message has an OPT record and a cookie. */
  #notice(tx: Transaction, message: Uint8Array, into: Uint8Array, reserved: number): LongReply {
    const client = clientOf(tx)
    const length = answerQuery(tx, message, into, reserved)
    const reply = new Uint8Array(into.subarray(0, length))
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
    const paddedFor = tx.wantsPadding
      ? tsigBytes(signature.key, signature.record.mac.length)
      : undefined
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
    // An update by an unknown key is refused like an unsigned one; a client that had agreed on
    // its key agrees on another one.
    const isRefused = opcode === Opcode.Update && this.#isStranger(record)
    const rcode = isRefused ? Rcode.Refused : Rcode.NotAuth
    const length = this.#bare(tx, message, rcode, into)
    assert(length + unprovenBytes(record) <= into.length, 'a reply without records is short')
    return appendUnproven(into, length, record, error)
  }

  #isStranger({ keyName, algorithmName }: TsigRecord): boolean {
    const mayHaveAgreed =
      this.#parts.keyExchange !== undefined && sameOctets(algorithmName, gssTsig.wire)
    return !mayHaveAgreed && this.#findKey(keyName) === undefined
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
  return new Uint8Array(source.subarray(sourceAt, sourceAt + sourceBytes))
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
  return new Uint8Array(into.subarray(0, tx.at))
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
