// A client that agrees on a key, signs updates with it, and deletes it, message by message. What it
// shares with the server is a secret in the place of a ticket; Kerberos is in the peers lane.
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Counters } from '#answer/counters/counters.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { HeaderOffset } from '#dns/header.ts'
import { readTkey, tkeyBytes, writeTkey } from '#dns/tkey/tkey-record.ts'
import { isTsigMac } from '#dns/tsig/tsig-digest.ts'
import { gssTsig } from '#dns/tsig/tsig-algorithms.ts'
import type { MacContext, TsigKey } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import { withoutReason } from '#dns/update/update-outcome.ts'
import { ok } from '#lib/result.ts'
import { Exchange } from '#zones/exchange/exchange.ts'
import { KeyExchange } from '#zones/gss/key-exchange.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { decodeMessage, encodeMessage } from '#test/support/dns/message.ts'
import { signedWith, updateMessage } from '#test/support/dns/signed.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const seconds = 1_700_000_000
const name = 'k.example.'

/** MACs differ by direction, as those of Kerberos. */
function contextOf(secret: string, isServer: boolean): MacContext {
  const macOf = (data: Uint8Array, from: string) =>
    createHmac('sha256', `${secret} ${from}`).update(data).digest().subarray(0, 28)
  const [own, other] = isServer ? ['server', 'client'] : ['client', 'server']
  return {
    sign: (data) => macOf(data, own),
    verifies: (data, mac) => macOf(data, other).equals(mac),
  }
}

const clientKey = (secret: string): TsigKey => ({
  ...{ name: wireName(name), algorithm: gssTsig, secret: new Uint8Array(0) },
  context: contextOf(secret, false),
})

class Server {
  /** The principals of updates. */
  readonly writers: unknown[] = []
  live = 0
  readonly #tx: Transaction
  readonly #exchange: Exchange

  constructor() {
    const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 1_000 }
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction({ ...settings, agreesOnKeys: true }, 1, counters)
    this.#tx.source = Uint8Array.of(...Buffer.alloc(10), 0xff, 0xff, 192, 0, 2, 1)
    this.#tx.sourceBytes = 16
    this.#exchange = new Exchange({
      findKey: () => undefined,
      keyExchange: new KeyExchange({
        open: async () => ok(() => this.#context()),
        clock: { nowMs: () => seconds * 1_000, monotonicMs: () => 0 },
        isTaken: () => false,
        log: silentLog,
      }),
      nowSeconds: () => seconds,
      transfers: new Transfers({ enabled: true, requireTsig: false, allow: [] }, () => 0),
      source: () => undefined,
      notice: () => Promise.resolve(0),
      update: (_message, { principal }) => {
        this.writers.push(principal)
        return Promise.resolve(withoutReason(0))
      },
    })
  }

  #context() {
    this.live++
    let mac: MacContext | undefined
    return {
      step: async (token: Uint8Array) => {
        mac = contextOf(Buffer.from(token).toString(), true)
        const agreed = { principal: 'PC1$@EXAMPLE.COM', seconds: 60, isMutual: true }
        return { is: 'agreed' as const, token: Buffer.from('well'), ...agreed }
      },
      sign: (data: Uint8Array) => mac!.sign(data),
      verifies: (data: Uint8Array, octets: Uint8Array) => mac!.verifies(data, octets),
      drop: () => void this.live--,
    }
  }

  async send(message: Buffer, transport: Transport = Transport.Tcp): Promise<Buffer> {
    this.#tx.transport = transport
    const into = new Uint8Array(65_535)
    const reply = this.#exchange.handle(this.#tx, message, into)
    const length = typeof reply === 'number' ? reply : await reply.next(into)
    if (typeof reply !== 'number') reply.end()
    return Buffer.from(into.slice(0, length))
  }
}

function tkey(token: string, mode = 3): Buffer {
  const question = { name, type: 249, class: 255 }
  const head = encodeMessage({ id: 1, opcode: 0, questions: [question] })
  const record = {
    ...{ keyName: wireName(name), algorithmName: gssTsig.wire, mode, error: 0 },
    ...{ inceptionSeconds: 1, expirationSeconds: 2, key: Buffer.from(token) },
  }
  const message = Buffer.concat([head, Buffer.alloc(tkeyBytes(record))])
  writeTkey(message, head.length, record)
  message.writeUInt16BE(1, HeaderOffset.ArCount)
  return message
}

/** Whether a reply is signed with the key. @param request its MAC; left out: it was not signed */
function isSigned(reply: Buffer, key: TsigKey, request?: Buffer): boolean {
  const record = readTsig(reply)
  if (record === null || record === 'malformed') return false
  const asked = request === undefined ? null : readTsig(request)
  const priorMac = asked === null || asked === 'malformed' ? new Uint8Array(0) : asked.mac
  const arCount = reply.readUInt16BE(HeaderOffset.ArCount) - 1
  const octets = reply.subarray(0, record.at)
  const messages = [{ octets, id: record.originalId, arCount }]
  return isTsigMac({ key, priorMac, messages, variables: record, isTimesOnly: false }, record.mac)
}

const update = (): Buffer =>
  updateMessage({ zone: 'example.com.', updates: ['pc1.example.com. 60 IN TXT "x"'] })

test('a key is agreed on, signs updates and their replies, and is deleted', async () => {
  const server = new Server()
  const key = clientKey('secret')
  const agreed = await server.send(tkey('secret'))
  expect(decodeMessage(agreed).rcode).toBe(0)
  expect(isSigned(agreed, key)).toBe(true)

  const signed = signedWith(key, update(), seconds)
  for (const transport of [Transport.Tcp, Transport.Udp]) {
    const reply = await server.send(signed, transport)
    expect([decodeMessage(reply).rcode, isSigned(reply, key, signed)]).toEqual([0, true])
  }
  // The second one was the same again.
  expect(server.writers).toEqual(['PC1$@EXAMPLE.COM'])

  const deletion = signedWith(key, tkey('', 5), seconds)
  const deleted = await server.send(deletion)
  expect([readTkey(deleted.subarray(0, -1)), server.live]).toEqual([undefined, 0])
  expect(isSigned(deleted, key, deletion)).toBe(true)
  const late = await server.send(signedWith(key, update(), seconds))
  expect(decodeMessage(late).rcode).toBe(9)
  expect(readTsig(late)).toMatchObject({ error: 17, mac: new Uint8Array(0) })
  expect(server.writers).toHaveLength(1)
})

test('a wrong signature is BADSIG, and so is that of the server', async () => {
  const server = new Server()
  await server.send(tkey('secret'))
  const mirrored = { ...clientKey('secret'), context: contextOf('secret', true) }
  for (const key of [clientKey('other'), mirrored]) {
    const reply = await server.send(signedWith(key, update(), seconds))
    expect([decodeMessage(reply).rcode, readTsig(reply)]).toMatchObject([9, { error: 16 }])
  }
  expect(server.writers).toEqual([])
})

test('a recorded token and update, sent again, change nothing', async () => {
  const server = new Server()
  const key = clientKey('secret')
  const signed = signedWith(key, update(), seconds)
  for (let i = 0; i < 2; i++) {
    await server.send(tkey('secret'))
    expect(decodeMessage(await server.send(signed)).rcode).toBe(0)
    await server.send(signedWith(key, tkey('', 5), seconds))
  }
  expect(server.writers).toHaveLength(1)
})

test('over UDP a client is told to come by TCP', async () => {
  const server = new Server()
  const { tc, answer } = decodeMessage(await server.send(tkey('secret'), Transport.Udp))
  expect([tc, answer, server.live]).toEqual([true, [], 0])
})
