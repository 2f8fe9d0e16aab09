// What clients get that ask for a key, and how many are kept. The contexts are ours here, with
// words for tokens; those of Kerberos are in the peers lane.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { TkeyError, TkeyMode } from '#dns/tkey/tkey-record.ts'
import type { TkeyRecord } from '#dns/tkey/tkey-record.ts'
import { Rcode } from '#dns/rcode.ts'
import { err, ok } from '#lib/result.ts'
import type { SecurityContext } from '#system/gss/security-context.ts'
import { KeyExchange } from '#zones/gss/key-exchange.ts'
import type { KeyReply } from '#zones/gss/key-exchange.ts'
import { gssLimits } from '#zones/gss/limits.ts'
import type { GssLimits } from '#zones/gss/limits.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const client = (host: number): Uint8Array =>
  Uint8Array.of(...Buffer.alloc(10), 0xff, 0xff, 192, 0, 2, host)

class Scene {
  nowMs = 0
  live = 0
  opens = 0
  keytab = true
  /** A step waits for it. */
  wait: Promise<unknown> = Promise.resolve()
  readonly lines: { about: object; line: string }[] = []
  readonly keys: KeyExchange

  constructor(limits: Partial<GssLimits> = {}) {
    const warn = (about: object, line: string): void => void this.lines.push({ about, line })
    this.keys = new KeyExchange({
      open: async () => {
        this.opens++
        return this.keytab ? ok(() => this.#context()) : err('there is no file')
      },
      clock: { nowMs: () => 1_700_000_000_000 + this.nowMs, monotonicMs: () => this.nowMs },
      isTaken: (name) => Buffer.from(name).equals(wireName('taken.example.')),
      log: { info: () => undefined, warn, error: warn },
      limits: { ...gssLimits, ...limits },
    })
  }

  #context(): SecurityContext {
    this.live++
    const digest = (data: Uint8Array): Buffer => createHash('sha1').update(data).digest()
    return {
      step: async (token) => {
        await this.wait
        const word = Buffer.from(token).toString()
        if (word === 'more') return { is: 'unfinished', token: Buffer.from('go on') }
        if (word === 'throw') throw new Error('a bug')
        if (!word.startsWith('I am ')) return { is: 'failed', why: 'the token is defective' }
        const [, principal = '', how] = /^I am (\S+) ?(.*)$/.exec(word) ?? []
        const isMutual = how !== 'alone'
        return { is: 'agreed', token: Buffer.from('well'), principal, seconds: 3_600, isMutual }
      },
      sign: digest,
      verifies: (data, mac) => digest(data).equals(mac),
      drop: () => void this.live--,
    }
  }

  async ask(name: string, token: string, more: Partial<TkeyRecord> = {}, from = 1) {
    const record: TkeyRecord = {
      ...{ keyName: wireName(name), algorithmName: wireName('gss-tsig.'), mode: TkeyMode.GssApi },
      ...{ inceptionSeconds: 1, expirationSeconds: 2, error: 0, key: Buffer.from(token), ...more },
    }
    return await this.keys.reply({ record, client: client(from), signer: undefined })
  }

  /** Agrees on a key, and signs a message with it. */
  async use(name: string, principal: string, from = 1): Promise<void> {
    said(await this.ask(name, `I am ${principal}`, {}, from))
    this.keys.hold(wireName(name))()
  }

  has(name: string): boolean {
    return this.keys.find(wireName(name)) !== undefined
  }
}

const said = ({ rcode, record, key, release }: KeyReply): string => {
  release()
  const text = record === undefined ? '' : Buffer.from(record.key).toString()
  return `${rcode} ${record?.error ?? '-'} ${text}${key === undefined ? '' : ' signed'}`
}

test('a client that has proven who it is has a key, and the reply is signed with it', async () => {
  const scene = new Scene()
  const reply = await scene.ask('k.example.', 'I am PC1$@EXAMPLE.COM')
  expect(reply.record).toMatchObject({
    ...{ inceptionSeconds: 1_700_000_000, expirationSeconds: 1_700_003_600, mode: 3 },
  })
  expect(said(reply)).toBe('0 0 well signed')
  expect(scene.keys.find(wireName('k.example.'))).toMatchObject({
    ...{ principal: 'PC1$@EXAMPLE.COM', id: 'gss:PC1$@EXAMPLE.COM', mayTransfer: false },
  })
  expect(scene.keys.counts).toEqual({ agreed: 1, failed: 0, open: 1 })
})

const refused: readonly [string, string, Partial<TkeyRecord>, string][] = [
  ['k.example.', 'nonsense', {}, `0 ${TkeyError.BadKey} `],
  ['k.example.', '', {}, `0 ${TkeyError.BadKey} `],
  ['k.example.', 'I am ann@EXAMPLE.COM alone', {}, `0 ${TkeyError.BadKey} `],
  ['k.example.', 'I am WELLKNOWN/ANONYMOUS@EXAMPLE.COM', {}, `0 ${TkeyError.BadKey} `],
  ['k.example.', `I am ${'a'.repeat(257)}`, {}, `0 ${TkeyError.BadKey} `],
  ['k.example.', 'I am ann', { mode: 2 }, `0 ${TkeyError.BadMode} `],
  ['k.example.', 'I am ann', { algorithmName: wireName('hmac-sha256.') }, '0 21 '],
  ['.', 'I am ann', {}, `0 ${TkeyError.BadName} `],
  ['taken.example.', 'I am ann', {}, `0 ${TkeyError.BadName} `],
  ['k.example.', '', { mode: TkeyMode.Delete }, `0 ${TkeyError.BadName} `],
  ['k.example.', 'throw', {}, '2 - '],
]
test.each(refused)('%s with %j %j gets no key', async (name, token, more, expected) => {
  const scene = new Scene()
  expect(said(await scene.ask(name, token, more))).toBe(expected)
  expect(scene.has(name)).toBe(false)
  expect(scene.live).toBe(0)
})

test('tokens follow each other, of one client, a few', async () => {
  const scene = new Scene({ stepsMax: 3 })
  expect(said(await scene.ask('k.example.', 'more'))).toBe('0 0 go on')
  // The name is that of another client.
  expect(said(await scene.ask('k.example.', 'more', {}, 2))).toBe('0 20 ')
  expect(said(await scene.ask('k.example.', 'I am ann'))).toBe('0 0 well signed')
  // It stands for a key now.
  expect(said(await scene.ask('k.example.', 'I am ann'))).toBe('0 20 ')
  await scene.ask('l.example.', 'more')
  await scene.ask('l.example.', 'more')
  expect(said(await scene.ask('l.example.', 'more'))).toBe('0 17 ')
  expect(scene.live).toBe(1)
})

test('a message while the one before is looked at is no part of the negotiation', async () => {
  const scene = new Scene({ atOnceMax: 2 })
  const { promise, resolve } = Promise.withResolvers<void>()
  scene.wait = promise
  const first = scene.ask('k.example.', 'I am ann')
  expect(said(await scene.ask('k.example.', 'I am bob'))).toBe('0 20 ')
  const second = scene.ask('l.example.', 'I am bob')
  expect(said(await scene.ask('m.example.', 'I am cat'))).toBe('2 - ')
  resolve()
  expect([said(await first), said(await second)]).toEqual(['0 0 well signed', '0 0 well signed'])
})

test('a key is deleted by a message that it has signed, and no other', async () => {
  const scene = new Scene()
  said(await scene.ask('k.example.', 'I am ann'))
  said(await scene.ask('l.example.', 'I am bob'))
  expect(said(await scene.ask('k.example.', '', { mode: TkeyMode.Delete }))).toBe(
    `${Rcode.Refused} - `,
  )
  const record: TkeyRecord = {
    ...{ keyName: wireName('k.example.'), algorithmName: wireName('gss-tsig.'), mode: 5 },
    ...{ inceptionSeconds: 1, expirationSeconds: 2, error: 0, key: new Uint8Array(0) },
  }
  const query = { record, client: client(9) }
  const other = await scene.keys.reply({ ...query, signer: wireName('l.example.') })
  expect(said(other)).toBe(`${Rcode.Refused} - `)
  const own = await scene.keys.reply({ ...query, signer: wireName('k.example.') })
  expect(scene.has('k.example.')).toBe(false)
  // The reply is still to be signed.
  expect(scene.live).toBe(2)
  expect(said(own)).toBe('0 0  signed')
  expect(scene.live).toBe(1)
})

test.each([
  [gssLimits.idleMs, 'ten minutes without a message', false],
  [gssLimits.idleMs, 'ten minutes with one in them', true],
  [3_600_000, 'the end of the ticket, whatever it does', true],
])('after %s ms, %s', async (passMs, what, isUsed) => {
  const scene = new Scene()
  said(await scene.ask('k.example.', 'I am ann'))
  for (const end = scene.nowMs + passMs; scene.nowMs < end; scene.nowMs += passMs / 10) {
    if (isUsed) scene.keys.hold(wireName('k.example.'))()
  }
  expect(scene.has('k.example.')).toBe(what.endsWith('in them'))
})

test('10,000 negotiations under way take away no key of another client', async () => {
  const scene = new Scene()
  await scene.use('k.example.', 'ann')
  for (let i = 0; i < 10_000; i++) said(await scene.ask(`n${i}.example.`, 'more', {}, 2 + (i % 9)))
  expect(scene.has('k.example.')).toBe(true)
  expect(scene.live).toBe(gssLimits.unprovenMax + 1)
  expect(scene.keys.counts.open).toBe(gssLimits.unprovenMax + 1)
})

test('what has signed nothing takes away no key where there are as many as may be', async () => {
  const scene = new Scene({ perClientMax: 2, contextsMax: 3 })
  const names = ['a0', 'a1', 'b0'].map((name) => `${name}.example.`)
  for (const [i, name] of names.entries()) await scene.use(name, 'ann', i >> 1)
  for (const token of ['nonsense', 'more', 'I am ann']) {
    for (let i = 0; i < 20; i++) said(await scene.ask(`n${i}.example.`, token, {}, i % 4))
  }
  expect(names.filter((name) => scene.has(name))).toEqual(names)
  // Two of each client.
  expect([scene.live, scene.keys.counts.open]).toEqual([11, 11])
})

test('a client with more keys than it may have loses those that it used first', async () => {
  const scene = new Scene({ perClientMax: 3, contextsMax: 5 })
  for (let i = 0; i < 3; i++) await scene.use(`a${i}.example.`, 'ann')
  scene.keys.hold(wireName('a0.example.'))()
  await scene.use('a3.example.', 'ann')
  const left = (): string[] =>
    ['a0', 'a1', 'a2', 'a3', 'b0', 'c0', 'd0'].filter((name) => scene.has(`${name}.example.`))
  expect(left()).toEqual(['a0', 'a2', 'a3'])
  for (const [i, name] of ['b0', 'c0', 'd0'].entries()) {
    await scene.use(`${name}.example.`, 'bob', 2 + i)
  }
  expect(left()).toEqual(['a0', 'a3', 'b0', 'c0', 'd0'])
  expect(scene.live).toBe(5)
})

test('a context is kept until the reply to its update is signed', async () => {
  const scene = new Scene({ perClientMax: 1 })
  said(await scene.ask('k.example.', 'I am ann'))
  const release = scene.keys.hold(wireName('k.example.'))
  await scene.use('l.example.', 'ann')
  expect([scene.has('k.example.'), scene.live]).toEqual([false, 2])
  release()
  release()
  expect(scene.live).toBe(1)
})

test('the log has one line in ten seconds, with how many there were', async () => {
  const scene = new Scene()
  for (let i = 0; i < 5; i++) await scene.ask('k.example.', 'nonsense')
  scene.nowMs += gssLimits.logMs
  await scene.ask('k.example.', 'nonsense')
  const reason = 'the token is defective'
  expect(scene.lines.map(({ about }) => about)).toEqual([
    { client: '192.0.2.1', key: 'k.example.', reason },
    { client: '192.0.2.1', key: 'k.example.', reason, others: 4 },
  ])
})

test('a keytab that is not there is SERVFAIL, and looked for again', async () => {
  const scene = new Scene({ retryMs: 0 })
  scene.keytab = false
  expect(said(await scene.ask('k.example.', 'I am ann'))).toBe('2 - ')
  expect(scene.lines).toMatchObject([{ about: { reason: 'there is no file' } }])
  scene.keytab = true
  await expect
    .poll(async () => said(await scene.ask('k.example.', 'I am ann')))
    .toBe('0 0 well signed')
  expect(scene.lines).toHaveLength(1)
})
