// RFC 2136 sections 3.1 to 3.5 and 3.8: signed updates of TXT records, through a node's sockets.
import { expect, onTestFinished, test } from 'vitest'
import { seal } from '#lib/secret-box.ts'
import { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import { Updates } from '#zones/update/updates.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { ask, exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { signedWith, testKey, testSecret } from '#test/support/dns/signed.ts'
import { updateMessage } from '#test/support/dns/signed.ts'
import type { UpdateParts } from '#test/support/dns/signed.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = 'example.com.'
const text = [
  '@ 60 IN SOA ns root 1 2 3 4 5',
  '@ 60 NS ns.example.net.',
  '@ 60 MX 10 Mail.Example.com.',
  'www 60 A 192.0.2.1',
  'mail 60 A 192.0.2.2',
  '',
].join('\n')
const key = testKey('key.example.')
const secretKey = Buffer.alloc(32, 7)
const state = useState(persistentAdapters[0]![1])

interface Primary {
  readonly send: (parts: Partial<UpdateParts>) => Promise<Message>
  /** Data and TTLs, and the rcode where there is no answer. */
  readonly ofType: (question: string) => Promise<string>
  /** Texts of a name, and the rcode where there is none. */
  readonly texts: (name: string) => Promise<string>
}

/** With TXT "1" and "2" at t.example.com. */
async function start(types: readonly number[] = [16]): Promise<Primary> {
  const { clock, after } = new FakeTime(1_000)
  const copy = createLocalCopy(`${tempDir('rfc2136')}/copy`, secretKey, silentLog)
  const parts = { store: state().dynamicDns, copy, secretKey, after, log: silentLog }
  const dynamic = new DynamicDns({ ...parts, now: clock.nowMs })
  await dynamic.start()
  const node: RunningNode = await startNode(
    { name: zone, text },
    { dynamic, onUpdate: (message, signer) => updates.carryOut(message, signer) },
  )
  onTestFinished(() => node.stop())
  const updates = new Updates({
    ...{ dynamicDns: dynamic, bundle: () => node.node.bundle(), log: silentLog },
    ...{ zones: [wireName(zone)], types: new Set(types), mayWrite: () => true },
  })
  dynamic.onKeys((keys) => node.node.setKeys(keys.map((one) => ({ ...one, mayTransfer: true }))))
  const stored = { id: 'k', tenantId: 'default', name: 'key.example.', algorithm: 'hmac-sha256.' }
  const secretCiphertext = seal(secretKey, testSecret.toString('base64'))
  await valueOf(dynamic.createKey({ ...stored, scope: zone, secretCiphertext, createdAtMs: 1 }))
  const send = async (update: Partial<UpdateParts>): Promise<Message> => {
    const message = signedWith(key, updateMessage({ zone, ...update }))
    return decodeMessage(await exchangeUdp(node, message))
  }
  const first = ['t.example.com. 60 IN TXT "1"', 't.example.com. 60 IN TXT "2"']
  expect((await send({ updates: first })).rcode).toBe(0)
  const ofType = async (question: string): Promise<string> => {
    const { rcode, answer } = await ask(node, question)
    const found = answer.map(({ rdataText, ttl }) => `${rdataText} ${ttl}`)
    return found.length === 0 ? `rcode ${rcode}` : found.join(', ')
  }
  return { send, ofType, texts: (name) => ofType(`${name} TXT`) }
}

test('3.8: the answer has the ID and the opcode, and no sections but the signature', async () => {
  const { send } = await start()
  const reply = await send({ updates: ['n.example.com. 60 IN TXT "x"'] })
  expect(reply).toMatchObject({ qr: true, opcode: 5, rcode: 0, questions: [], answer: [] })
  expect(reply.additional.map(({ type }) => type)).toEqual([250])
})

/** Prerequisites, and what is answered. Where it is not 0, nothing changes. */
const needs: readonly [string, readonly string[], number][] = [
  ['3.2.1 a name in use', ['www.example.com. 0 ANY ANY'], 0],
  ['3.2.1 a name in use that is not', ['no.example.com. 0 ANY ANY'], 3],
  ['3.2.2 a name not in use', ['no.example.com. 0 NONE ANY'], 0],
  ['3.2.2 a name not in use that is', ['T.example.com. 0 NONE ANY'], 6],
  ['3.2.3 an rrset, whatever its values', ['example.com. 0 ANY MX'], 0],
  ['3.2.3 an rrset that is not there', ['www.example.com. 0 ANY TXT'], 8],
  ['3.2.3 an rrset with its values', ['example.com. 0 IN MX 10 mAIL.example.COM.'], 0],
  ['3.2.3 an rrset with other values', ['www.example.com. 0 IN A 192.0.2.9'], 8],
  ['3.2.3 an rrset of which one is missing', ['t.example.com. 0 IN TXT "1"'], 8],
  ['3.2.4 no rrset', ['www.example.com. 0 NONE TXT'], 0],
  ['3.2.4 no rrset where one is', ['www.example.com. 0 NONE A'], 7],
  ['3.2.5 a TTL', ['www.example.com. 1 ANY A'], 1],
  ['3.2.5 a name outside', ['www.example.net. 0 ANY A'], 10],
]
test('3.2: prerequisites are compared with what the zone has, updates included', async () => {
  const { send, texts } = await start()
  for (const [i, [what, lines, rcode]] of needs.entries()) {
    const name = `n${i}.example.com.`
    const reply = await send({ needs: lines, updates: [`${name} 60 IN TXT "x"`] })
    expect([what, reply.rcode]).toEqual([what, rcode])
    expect(await texts(name)).toBe(rcode === 0 ? '"x" 60' : 'rcode 3')
  }
})

test('3.4: updates add and delete, in their order', async () => {
  const { send, texts } = await start()
  const t = 't.example.com.'
  const steps: readonly [readonly string[], string][] = [
    [[`${t} 60 IN TXT "1"`], '"1" 60, "2" 60'],
    [[`${t} 0 NONE TXT "1"`], '"2" 60'],
    [[`${t} 0 NONE TXT "other"`], '"2" 60'],
    [[`${t} 0 ANY TXT`, `${t} 30 IN TXT "3"`], '"3" 30'],
    [[`${t} 60 IN TXT "4"`, `${t} 0 ANY ANY`], 'rcode 3'],
    // Other types come from Git: they are skipped.
    [['www.example.com. 0 ANY A', `${t} 60 IN A 192.0.2.7`], 'rcode 3'],
  ]
  for (const [updates, expected] of steps) {
    expect((await send({ updates })).rcode).toBe(0)
    expect(await texts(t)).toBe(expected)
  }
})

test('3.4.1: one bad record, and none of the others is carried out', async () => {
  const { send, texts } = await start()
  const rows: readonly [string, number][] = [
    ['n.example.net. 60 IN TXT "x"', 10],
    ['n.example.com. 60 CH TXT "x"', 1],
    ['n.example.com. 1 NONE TXT "x"', 1],
    ['n.example.com. 0 ANY TXT "x"', 1],
    ['n.example.com. 0 IN AXFR', 1],
  ]
  for (const [line, rcode] of rows) {
    const reply = await send({ updates: ['good.example.com. 60 IN TXT "x"', line] })
    expect([line, reply.rcode]).toEqual([line, rcode])
    expect(await texts('good.example.com.')).toBe('rcode 3')
  }
})

test('3.1: a zone that takes no updates is NOTAUTH', async () => {
  const { send } = await start()
  for (const other of ['example.net.', 'www.example.com.', 'com.']) {
    expect((await send({ zone: other })).rcode).toBe(9)
  }
})

const allTypes = Object.values(writtenTypes)

test('3.4.2.2: an alias is alone, and what is added beside it or as it is left out', async () => {
  const { send, ofType } = await start(allTypes)
  const h = 'h.example.com.'
  const steps: readonly [readonly string[], string, string][] = [
    [[`${h} 60 IN CNAME www.example.com.`], `${h} CNAME`, 'www.example.com. 60'],
    // Followed to a name of Git.
    [[], `${h} A`, 'www.example.com. 60, 192.0.2.1 60'],
    [[`${h} 60 IN A 192.0.2.7`], `${h} CNAME`, 'www.example.com. 60'],
    [[`${h} 60 IN CNAME other.example.net.`], `${h} CNAME`, 'other.example.net. 60'],
    [[`${h} 30 IN CNAME other.example.net.`], `${h} CNAME`, 'other.example.net. 30'],
    [[`${h} 0 ANY CNAME`, `${h} 60 IN A 192.0.2.7`], `${h} A`, '192.0.2.7 60'],
    [[`${h} 60 IN CNAME www.example.com.`], `${h} CNAME`, 'rcode 0'],
    [[`${h} 30 IN A 192.0.2.7`], `${h} A`, '192.0.2.7 30'],
    [[`${h} 30 IN AAAA 2001:db8::7`], `${h} AAAA`, '2001:db8::7 30'],
    [[`${h} 0 ANY A`], `${h} AAAA`, '2001:db8::7 30'],
    [[], `${h} A`, 'rcode 0'],
    [[`${h} 0 NONE AAAA 2001:db8::7`], `${h} A`, 'rcode 3'],
  ]
  for (const [updates, question, expected] of steps) {
    if (updates.length > 0) expect((await send({ updates })).rcode).toBe(0)
    expect([updates, question, await ofType(question)]).toEqual([updates, question, expected])
  }
})

test('3.4.2: what Git declares is never changed: the update is REFUSED as a whole', async () => {
  const { send, ofType } = await start(allTypes)
  const rows: readonly [string, number][] = [
    ['www.example.com. 60 IN A 192.0.2.7', 5],
    ['www.example.com. 0 ANY A', 5],
    ['www.example.com. 0 NONE A 192.0.2.1', 5],
    ['www.example.com. 60 IN CNAME other.example.net.', 5],
    ['example.com. 60 IN CNAME other.example.net.', 5],
    ['www.example.com. 60 IN AAAA 2001:db8::7', 0],
    ['www.example.com. 0 ANY ANY', 0],
    // Types that nobody writes at run time are skipped.
    ['www.example.com. 60 IN MX 10 mail', 0],
  ]
  for (const [i, [line, rcode]] of rows.entries()) {
    const name = `g${i}.example.com.`
    const reply = await send({ updates: [`${name} 60 IN A 192.0.2.9`, line] })
    expect([line, reply.rcode]).toEqual([line, rcode])
    expect(await ofType(`${name} A`)).toBe(rcode === 0 ? '192.0.2.9 60' : 'rcode 3')
    expect(await ofType('www.example.com. A')).toBe('192.0.2.1 60')
  }
})

test('a DHCP server keeps a name of its client, by DHCID (RFC 4703 section 5)', async () => {
  const { send, ofType } = await start(allTypes)
  const h = 'host.example.com.'
  const mine = `${h} 0 IN TYPE49 \\# 5 0002016360`
  const first = [`${h} 60 IN A 192.0.2.20`, `${h} 60 IN TYPE49 \\# 5 0002016360`]
  const isFree = [`${h} 0 NONE ANY`]
  expect((await send({ needs: isFree, updates: first })).rcode).toBe(0)
  // Another client with the same name, then the same with a new address.
  expect((await send({ needs: isFree, updates: first })).rcode).toBe(6)
  const theirs = `${h} 0 IN TYPE49 \\# 5 0001016360`
  const again = [`${h} 0 ANY A`, `${h} 60 IN A 192.0.2.21`]
  expect((await send({ needs: [theirs], updates: again })).rcode).toBe(8)
  expect((await send({ needs: [mine], updates: again })).rcode).toBe(0)
  expect(await ofType(`${h} A`)).toBe('192.0.2.21 60')
  expect((await send({ needs: [mine], updates: [`${h} 0 NONE A 192.0.2.21`] })).rcode).toBe(0)
  const rest = [mine, `${h} 0 NONE A`, `${h} 0 NONE AAAA`]
  expect((await send({ needs: rest, updates: [`${h} 0 ANY ANY`] })).rcode).toBe(0)
  expect(await ofType(`${h} TYPE49`)).toBe('rcode 3')
})

test('with A and without DHCID among the types, a DHCP server is REFUSED', async () => {
  const { send, ofType } = await start([1, 16])
  const h = 'host.example.com.'
  const both = [`${h} 60 IN A 192.0.2.20`, `${h} 60 IN TYPE49 \\# 5 0002016360`]
  expect((await send({ updates: both })).rcode).toBe(5)
  expect(await ofType(`${h} A`)).toBe('rcode 3')
})

test.each([
  ['deleting what Git declares', 'www.example.com. 0 ANY A', 5],
  ['adding an alias beside what Git declares', 'www.example.com. 60 IN CNAME mail.example.com.', 5],
  ['deleting an alias that what Git declares hides', 'www.example.com. 0 ANY CNAME', 0],
])('%s is answered as the page says', async (_what, line, rcode) => {
  const { send } = await start([1, 5, 16])
  expect((await send({ updates: [line] })).rcode).toBe(rcode)
})
