// Answers signed messages, transfers and updates in the stream thread, also for the responders'
// sockets.
import { Rcode } from '#dns/rcode.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import type { Log } from '#lib/log.ts'
import type { ServingView } from '#answer/serving-view.ts'
import type { QueryBucket } from '#answer/counters/query-bucket.ts'
import type { Transaction } from '#answer/transaction.ts'
import { Exchange } from '#zones/exchange/exchange.ts'
import type { ExchangeCounts, ExchangeKey } from '#zones/exchange/exchange.ts'
import { KeyExchange } from '#zones/gss/key-exchange.ts'
import type { KeyExchangeCounts } from '#zones/gss/key-exchange.ts'
import type { UpdateSigner } from '#zones/update/update-writers.ts'
import type { LongReply } from '#system/sockets/long-reply.ts'
import type { LateSender } from '#system/sockets/packet-source.ts'
import type { SourcePlace } from '#system/sockets/packet-sources.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import type { TransferCounts, TransferSettings } from '#zones/transfer/transfers.ts'
import { historyLimits, transferLimits } from '#zones/transfer/limits.ts'
import { TransferHistory } from '#zones/transfer/transfer-history.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import type { HandedMessage, HandOverGate } from './hand-over.ts'

interface StreamExchangeParts {
  /** For messages from responders. */
  readonly tx: Transaction
  readonly bucket: Pick<QueryBucket, 'take' | 'giveBack'>
  readonly gate: HandOverGate
  /** Sends replies to messages of responders; undefined: there are none. */
  readonly sender: LateSender<SourcePlace> | undefined
  readonly transfers: TransferSettings
  /** Keys are agreed on with tickets for what is in it; undefined: they are not. */
  readonly keytab: string | undefined
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number }
  readonly askToUpdate: (id: number, message: Uint8Array, signer: UpdateSigner) => void
  /** Passes a NOTIFY message on; its outcome comes like that of an update. */
  readonly askToNotice: (id: number, message: Uint8Array, client: Uint8Array) => void
  readonly log: Log
}

export interface ExchangeStats {
  readonly messages: ExchangeCounts
  readonly transfers: TransferCounts
  /** Keys agreed on by Kerberos. */
  readonly keys: KeyExchangeCounts
  /** Changes that are kept for secondaries. */
  readonly history: { readonly changes: number; readonly bytes: number }
}

/** Time after which an update counts as failed for its client. */
const updatePatienceMs = 10_000
/** Updates waiting for the database. Further ones are SERVFAIL. */
const updatesMax = 256
/** Size of a late UDP reply, which has at most one record. */
const lateReplyBytes = 4_096

const notInTime = { rcode: Rcode.ServFail, why: 'it takes too long, or too many wait: try again' }

export class StreamExchange {
  readonly #parts: StreamExchangeParts
  readonly #exchange: Exchange
  readonly #transfers: Transfers
  readonly #keyExchange: KeyExchange | undefined
  readonly #history: TransferHistory
  readonly #sources: ZoneSources
  readonly #reply = new Uint8Array(65_535)
  readonly #updates = new Map<number, (outcome: UpdateOutcome) => void>()
  #updateId = 0
  #keys = new Map<string, ExchangeKey>()

  constructor(parts: StreamExchangeParts) {
    this.#parts = parts
    const { clock, transfers, log } = parts
    const { history: limits = historyLimits, catalog } = transfers
    const history = new TransferHistory(clock.monotonicMs, limits, catalog)
    this.#history = history
    this.#sources = new ZoneSources(transferLimits, history)
    this.#transfers = new Transfers(transfers, clock.monotonicMs, { history, log })
    this.#keyExchange = this.#createKeyExchange()
    this.#exchange = new Exchange({
      findKey: (name) => this.#keys.get(textOf(name)),
      keyExchange: this.#keyExchange,
      nowSeconds: () => Math.floor(clock.nowMs() / 1_000),
      transfers: this.#transfers,
      source: () => this.#sources.current(),
      update: (message, { name, principal }) =>
        this.#asked((id) => this.#parts.askToUpdate(id, message, principal ?? name)),
      notice: (message, client) =>
        this.#asked((id) => this.#parts.askToNotice(id, message, client)).then(
          ({ rcode }) => rcode,
        ),
    })
  }

  #createKeyExchange(): KeyExchange | undefined {
    const { keytab, clock, log } = this.#parts
    if (keytab === undefined) return undefined
    const isTaken = (name: Uint8Array): boolean => this.#keys.has(textOf(name))
    // Loaded when the first client comes.
    const open = async () => (await import('#system/gss/security-context.ts')).openKeytab(keytab)
    return new KeyExchange({ open, clock, isTaken, log })
  }

  /** Runs before the thread acknowledges this view. */
  adopt(view: ServingView): void {
    this.#sources.adopt(view)
    this.#parts.tx.adopt(view)
  }

  takeKeys(keys: readonly ExchangeKey[]): void {
    this.#keys = new Map(keys.map((key) => [textOf(key.name), key]))
  }

  /** Answers a TCP message. */
  handle(tx: Transaction, message: Uint8Array, into: Uint8Array): number | LongReply {
    return this.#exchange.handle(tx, message, into)
  }

  /**
   * Answers a UDP message.
   *
   * @param send called at most once, possibly later
   * @returns when it was called, or never will be
   */
  async handleUdp(
    tx: Transaction,
    message: Uint8Array,
    send: (reply: Uint8Array) => void,
  ): Promise<void> {
    try {
      const reply = this.#exchange.handle(tx, message, this.#reply)
      if (typeof reply !== 'number') return await sendLater(reply, send)
      if (reply > 0) send(this.#reply.subarray(0, reply))
    } catch {
      // A bug of ours costs only this client its reply.
      tx.counters.drop()
    }
  }

  /** Answers a message that a responder received. @param from its place of arrival */
  handleHanded({ query, envelope, client }: HandedMessage, from: SourcePlace): void {
    const { tx, bucket, gate } = this.#parts
    tx.source = client
    tx.sourceBytes = client.length
    tx.tokens = bucket.take(1)
    const done = this.handleUdp(tx, query, (octets) => this.#send(from, envelope, octets))
    bucket.giveBack(tx.tokens)
    void done.then(() => gate.leave())
  }

  #send(from: SourcePlace, envelope: Uint8Array, octets: Uint8Array): void {
    const { sender, tx } = this.#parts
    const isSent = sender?.send(from, envelope, octets) ?? false
    if (!isSent) tx.counters.sendErrors(1)
  }

  #asked(ask: (id: number) => void): Promise<UpdateOutcome> {
    if (this.#updates.size >= updatesMax) return Promise.resolve(notInTime)
    const id = ++this.#updateId
    return new Promise((resolve) => {
      const patience = setTimeout(() => this.updated(id, notInTime), updatePatienceMs)
      this.#updates.set(id, (outcome) => {
        clearTimeout(patience)
        resolve(outcome)
      })
      ask(id)
    })
  }

  /** Passes the outcome of an update to its waiting client; one that timed out gets none. */
  updated(id: number, outcome: UpdateOutcome): void {
    const resolve = this.#updates.get(id)
    this.#updates.delete(id)
    resolve?.(outcome)
  }

  stats(): ExchangeStats {
    return {
      messages: { ...this.#exchange.counts },
      transfers: { ...this.#transfers.counts },
      keys: this.#keyExchange?.counts ?? { agreed: 0, failed: 0, open: 0 },
      history: this.#history.size,
    }
  }
}

async function sendLater(reply: LongReply, send: (octets: Uint8Array) => void): Promise<void> {
  const into = new Uint8Array(lateReplyBytes)
  const length = await reply.next(into)
  if (length > 0) send(into.subarray(0, length))
  reply.end()
}

const textOf = (name: Uint8Array): string => Buffer.from(name).toString('latin1')
