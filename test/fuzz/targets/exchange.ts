// What must hold of the replies to any update or request for a transfer, and the collected ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { ok } from '#lib/result.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import type { LiveTsigKey } from '#zones/dynamic/live-keys.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { Exchange } from '#zones/exchange/exchange.ts'
import type { LongReply } from '#system/sockets/long-reply.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import { Updates } from '#zones/update/updates.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { testKey } from '#test/support/dns/signed.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const corpus = join(import.meta.dirname, '..', 'corpus')

/** By file name. Hex; what follows a `#` means nothing. */
export function exchangeCorpus(folder: 'update' | 'transfer'): ReadonlyMap<string, Buffer> {
  const files = readdirSync(join(corpus, folder)).sort()
  const octetsOf = (file: string): Buffer =>
    Buffer.from(readFileSync(join(corpus, folder, file), 'utf8').replace(/#.*|\s+/g, ''), 'hex')
  return new Map(files.map((file) => [file.replace('.hex', ''), octetsOf(file)]))
}

const exchangeSerial = 7
export const exchangeSeconds = 1_700_000_000
const catalog = wireName('catalog.example.')
const text = [
  '@ 60 IN SOA ns root 1 2 3 4 5',
  '@ 60 NS ns.example.net.',
  '@ 60 MX 10 mail',
  'www 60 A 192.0.2.1',
  ...Array.from({ length: 300 }, (_, i) => `n${i} 60 TXT ${'x'.repeat(100)}`),
  '',
].join('\n')

export const exchangeKey = {
  ...testKey('key.example.'),
  ...{ id: 'k', tenantId: 'default', scope: null, mayTransfer: true },
}

/** One that has the zone example.com and a catalog zone; updates are carried out in memory. */
export class ExchangeUnderTest {
  readonly #tx: Transaction
  readonly #exchange: Exchange
  readonly #into = new Uint8Array(65_535)
  /** How often updates were carried out. */
  changes = 0

  constructor() {
    const settings = { udpPayloadSize: 1_232, nsid: 'n', versionBind: '', tcpIdleTimeoutMs: 1_000 }
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction({ ...settings, catalog }, 1, counters)
    const { bytes, digest } = encodeBundle(modelOf({ name: 'example.com.', text }), () => -1)
    const bundle = adoptBundle(bytes, digest)
    const routing = createRoutingState(bundle, exchangeSerial).buffers
    const tables = noRoutingTables
    const view = createServingView({ number: 1, bundle: bytes, digest, routing, tables })
    this.#tx.adopt(view)
    this.#tx.handsOver = true
    const sources = new ZoneSources()
    sources.adopt(view)
    const updates = new Updates({
      dynamicDns: {
        find: (): LiveTsigKey => ({ ...exchangeKey, scope: wireName('example.com.') }),
        texts: new WrittenRecords(),
        apply: async () => ok({ revision: ++this.changes, added: [], removed: [] }),
        refresh: async () => true,
      },
      bundle: () => bundle,
      zones: [wireName('example.com.')],
      types: new Set(Object.values(writtenTypes)),
      mayWrite: () => true,
      log: silentLog,
    })
    this.#exchange = new Exchange({
      findKey: (name) =>
        Buffer.from(name).equals(Buffer.from(exchangeKey.name)) ? exchangeKey : undefined,
      keyExchange: undefined,
      nowSeconds: () => exchangeSeconds,
      transfers: new Transfers({ enabled: true, requireTsig: false, allow: [], catalog }, () => 0),
      source: () => sources.current(),
      notice: () => Promise.resolve(0),
      update: (message, key) => updates.carryOut(message, key.name),
    })
  }

  /** @returns each message of the reply */
  async replies(message: Buffer, isTcp: boolean): Promise<readonly Buffer[]> {
    this.#tx.transport = isTcp ? Transport.Tcp : Transport.Udp
    const reply = this.#exchange.handle(this.#tx, message, this.#into)
    if (typeof reply === 'number') return reply === 0 ? [] : [this.#copy(reply)]
    const all = await this.#all(reply)
    reply.end()
    return all
  }

  async #all(reply: LongReply): Promise<readonly Buffer[]> {
    const all: Buffer[] = []
    for (let length; (length = await reply.next(this.#into)) > 0;) all.push(this.#copy(length))
    return all
  }

  #copy(length: number): Buffer {
    return Buffer.from(this.#into.slice(0, length))
  }
}

const rcodes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16]
const soa = 6
const tsig = 250

/**
 * @param isSigned with the key that is known
 * @returns what is wrong with the replies to a message, or undefined
 */
export function complaintAboutReplies(
  message: Buffer,
  replies: readonly Buffer[],
  isSigned: boolean,
): string | undefined {
  let soas = 0
  let records = 0
  for (const octets of replies) {
    let reply: Message
    try {
      reply = decodeMessage(octets)
    } catch (error) {
      return `malformed: ${String(error)}`
    }
    const last = reply.additional.at(-1)?.type
    const rules: readonly (readonly [isKept: boolean, complaint: string])[] = [
      [reply.id === message.readUInt16BE(0), 'another ID'],
      [reply.qr, 'QR is clear'],
      [reply.opcode === ((message.readUInt8(2) >> 3) & 15), 'another opcode'],
      [rcodes.includes(reply.rcode), `response code ${reply.rcode}`],
      [!isSigned || last === tsig, 'a signed message has an unsigned reply'],
      [reply.rcode === 0 || reply.answer.length === 0, 'an answer beside an error'],
      [!reply.tc || reply.answer.length === 0, 'records beside TC'],
    ]
    const broken = rules.find(([isKept]) => !isKept)
    if (broken !== undefined) return broken[1]
    soas += reply.answer.filter(({ type }) => type === soa).length
    records += reply.answer.length
  }
  if (replies.length > 1 && soas !== 2) return `a transfer with ${soas} SOA records`
  return records > 1 && soas === 0 ? 'records of a zone without its SOA' : undefined
}
