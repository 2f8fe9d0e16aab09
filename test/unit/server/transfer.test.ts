// Transfers of a zone: who gets one, and who does not. RFC 5936, RFC 1995.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { MessageSigner } from '#dns/tsig/sign-message.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a, lineOf, linesOf } from '#test/support/dns/record.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const secret = Buffer.alloc(32, 7)
const keyOf = (name: string, scope: Uint8Array | null, mayTransfer = true) => ({
  ...{ id: name, name: wireName(name), algorithm: tsigAlgorithm('hmac-sha256.')!, secret, scope },
  mayTransfer,
})
const whole = keyOf('whole.example.', null)
const narrow = keyOf('narrow.example.', wireName('_acme-challenge.www.example.org.'))
const within = keyOf('within.example.', wireName('org.'))
/** As the daemon makes them of the keys of tenants. */
const tenants = keyOf('tenants.example.', null, false)
const tenantsNarrow = keyOf('tenants-narrow.example.', wireName('example.org.'), false)
const keys = [whole, narrow, within, tenants, tenantsNarrow]
type Key = typeof whole

function signedBy(key: Key | undefined, message: Buffer): Buffer {
  if (key === undefined) return message
  const octets = Buffer.concat([message, Buffer.alloc(512)])
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const length = new MessageSigner(key).sign(octets, message.length, nowSeconds)
  return octets.subarray(0, length)
}

interface Row {
  readonly question?: string
  readonly key?: Key
  readonly udp?: true
  /** The serial that the client has. */
  readonly have?: number
}

async function ask(node: RunningNode, row: Row): Promise<Message> {
  const { question = 'example.org. AXFR', key, have, udp } = row
  const soa = `example.org. 0 IN SOA . . ${have} 0 0 0 0`
  const authority = have === undefined ? [] : [a(soa)]
  const message = signedBy(key, query(question, { authority }))
  if (udp === true) return decodeMessage(await exchangeUdp(node, message))
  const client = await TcpClient.connect(node)
  try {
    client.send(message)
    return decodeMessage(await client.receive())
  } finally {
    client.destroy()
  }
}

const loopback = { octets: Uint8Array.of(127, 0, 0, 0), prefixBits: 8 }
const elsewhere = { octets: Uint8Array.of(192, 0, 2, 0), prefixBits: 24 }
const open = {
  ...{ enabled: true, requireTsig: false, allow: [loopback] },
  catalog: wireName('catalog.example.net.'),
}
const ixfr = 'example.org. IXFR'
const catalogAxfr = 'catalog.example.net. AXFR'
const catalogSoa = 'catalog.example.net. SOA'
const settings = {
  open,
  off: { ...open, enabled: false },
  signed: { ...open, requireTsig: true },
  elsewhere: { ...open, allow: [elsewhere] },
} as const

/** With dns.threads 1, and 0. */
const nodes = new Map<string, RunningNode>()
beforeAll(async () => {
  for (const [name, transfers] of Object.entries(settings)) {
    for (const threads of name === 'open' ? [1, 0] : [1]) {
      const node = await startNode(conformanceConfig, { threads, transfers })
      node.node.setKeys(keys)
      nodes.set(`${name} ${threads}`, node)
    }
  }
})
afterAll(async () => {
  for (const node of nodes.values()) await node.stop()
})

const bigZone = {
  name: 'big.example.',
  text: `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${Array.from(
    { length: 200 },
    (_, i) => `n${i} 60 TXT ${'x'.repeat(200)}\n`,
  ).join('')}`,
}

async function overTcp(node: RunningNode, message: Buffer): Promise<Buffer> {
  const client = await TcpClient.connect(node)
  try {
    client.send(message)
    return await client.receive()
  } finally {
    client.destroy()
  }
}

type Answer = 'whole' | 'soa' | number
const refused = 5
const notAuth = 9
const formErr = 1
const rows: readonly [string, keyof typeof settings, Row, Answer][] = [
  ['AXFR', 'open', {}, 'whole'],
  ['AXFR, signed', 'open', { key: whole }, 'whole'],
  ['AXFR over UDP', 'open', { udp: true }, refused],
  ['AXFR of another zone', 'open', { question: 'example.net. AXFR' }, notAuth],
  ['AXFR of a name below the apex', 'open', { question: 'ns1.example.org. AXFR' }, notAuth],
  ['AXFR by a key for some names', 'open', { key: narrow }, refused],
  ['AXFR by a key for the zones below a name', 'open', { key: within }, 'whole'],
  ['AXFR by a key that is a tenant’s', 'open', { key: tenants }, refused],
  ['AXFR by a key of a tenant for the zone', 'open', { key: tenantsNarrow }, refused],
  ['AXFR by a key of a tenant, needed', 'signed', { key: tenants }, refused],
  ['IXFR by a key of a tenant', 'open', { question: ixfr, have: 1, key: tenants }, refused],
  ['AXFR of the catalog zone', 'open', { question: catalogAxfr }, 'whole'],
  ['AXFR of it in other letters', 'open', { question: 'CATALOG.example.net. AXFR' }, 'whole'],
  ['AXFR of it, signed', 'open', { question: catalogAxfr, key: whole }, 'whole'],
  ['AXFR of it by a key for some names', 'open', { question: catalogAxfr, key: within }, refused],
  ['AXFR of it by a key of a tenant', 'open', { question: catalogAxfr, key: tenants }, refused],
  ['AXFR of it over UDP', 'open', { question: catalogAxfr, udp: true }, refused],
  ['AXFR of it where it is off', 'off', { question: catalogAxfr }, refused],
  ['SOA of the catalog zone', 'open', { question: catalogSoa }, 'soa'],
  ['SOA of it over UDP', 'open', { question: catalogSoa, udp: true }, 'soa'],
  ['SOA of it over UDP, signed', 'open', { question: catalogSoa, udp: true, key: whole }, 'soa'],
  ['SOA of it without the signature that is needed', 'signed', { question: catalogSoa }, refused],
  ['SOA of it by a client that is not listed', 'elsewhere', { question: catalogSoa }, refused],
  ['SOA of a name below it', 'open', { question: `zones.${catalogSoa}` }, refused],
  ['NS of the catalog zone', 'open', { question: 'catalog.example.net. NS' }, refused],
  ['AXFR where it is off', 'off', { key: whole }, refused],
  ['AXFR without the signature that is needed', 'signed', {}, refused],
  ['AXFR with the signature that is needed', 'signed', { key: whole }, 'whole'],
  ['AXFR by a client that is not listed', 'elsewhere', { key: whole }, refused],
  ['IXFR of an older serial', 'open', { question: ixfr, have: 0 }, 'whole'],
  ['IXFR of a serial before, over the turn', 'open', { question: ixfr, have: -2 >>> 0 }, 'whole'],
  ['IXFR of the current serial', 'open', { question: ixfr, have: 1 }, 'soa'],
  ['IXFR of a later serial', 'open', { question: ixfr, have: 2 }, 'soa'],
  ['IXFR over UDP', 'open', { question: ixfr, have: 0, udp: true }, 'soa'],
  ['IXFR over UDP, signed', 'open', { question: ixfr, have: 0, udp: true, key: whole }, 'soa'],
  ['IXFR over UDP where it is off', 'off', { question: ixfr, have: 0, udp: true }, refused],
  ['IXFR without a SOA', 'open', { question: ixfr }, formErr],
]
describe.each([1, 0])('with dns.threads: %i', (threads) => {
  const own = rows.filter(
    ([, name]) => nodes.has(`${name} ${threads}`) || threads === 1 || name === 'open',
  )
  test.each(own)('%s', async (_what, name, row, expected) => {
    const reply = await ask(nodes.get(`${name} ${threads}`)!, row)
    const records = reply.answer.length
    const got = reply.rcode > 0 ? reply.rcode : records === 1 ? 'soa' : 'whole'
    expect(got).toBe(expected)
    expect(reply.questions).toHaveLength(1)
    expect(reply.aa).toBe(typeof expected === 'string')
    const lastAdditional = reply.additional.at(-1)?.type
    expect(lastAdditional).toBe(row.key === undefined ? undefined : 250)
  })
})

const withOpt = { opt: {} }

test.each([
  ['AXFR over TCP', 'example.org. AXFR', false, 0],
  ['IXFR over UDP', ixfr, true, 0],
  ['SOA of the catalog zone', catalogSoa, true, 0],
  ['AXFR with a version of EDNS that nobody knows', 'example.org. AXFR', false, 16],
])('%s with an OPT record is answered with one', async (_what, question, udp, rcode) => {
  const authority = question === ixfr ? [a('example.org. 0 IN SOA . . 0 0 0 0 0')] : []
  const plain = query(question, { authority, opt: { version: rcode === 16 ? 1 : 0 } })
  for (const key of [undefined, whole]) {
    const message = signedBy(key, plain)
    const node = nodes.get('open 1')!
    const reply = udp ? await exchangeUdp(node, message) : await overTcp(node, message)
    const { opt, additional, ...decoded } = decodeMessage(reply)
    expect([decoded.rcode, opt?.version]).toEqual([rcode, 0])
    expect(decoded.answer.length > 0).toBe(rcode === 0)
    expect(additional.map(({ type }) => type)).toEqual(key === undefined ? [] : [250])
  }
})

test('each message of a transfer has OPT where the query has it', async () => {
  const node = await startNode(bigZone, { transfers: open })
  const client = await TcpClient.connect(node)
  client.send(query('big.example. AXFR', withOpt))
  let soas = 0
  let messages = 0
  for (; soas < 2; messages++) {
    const { answer, opt } = decodeMessage(await client.receive())
    expect(opt).toBeDefined()
    soas += answer.filter(({ type }) => type === 6).length
  }
  expect(messages).toBeGreaterThan(2)
  client.destroy()
  await node.stop()
})

test('IXFR over UDP whose SOA does not fit is truncated', async () => {
  const label = 'x'.repeat(63)
  const long = `${label}.${label}.${label}.long.example.`
  const soa = `@ 60 IN SOA ${label}.${label}.ns.a. ${label}.${label}.b. 1 2 3 4 5`
  const text = `${soa}\n@ 60 NS ns.example.net.\n`
  const node = await startNode({ name: long, text }, { transfers: open })
  const authority = [a(`${long} 0 IN SOA . . 0 0 0 0 0`)]
  const ask = (parts: object): Buffer => query(`${long} IXFR`, { authority, ...parts })
  const cut = await exchangeUdp(node, ask({}))
  expect(cut.length).toBeLessThanOrEqual(512)
  expect(decodeMessage(cut)).toMatchObject({ tc: true, aa: true, answer: [] })
  const whole = decodeMessage(await exchangeUdp(node, ask({ opt: { udpSize: 1_232 } })))
  expect([whole.tc, whole.answer.length]).toEqual([false, 1])
  await node.stop()
})

test('a signed message with two questions gets FORMERR, and no transfer', async () => {
  const one = query('example.org. AXFR')
  const two = Buffer.concat([one, one.subarray(12)])
  two.writeUInt16BE(2, 4)
  const client = await TcpClient.connect(nodes.get('open 1')!)
  client.send(signedBy(whole, two))
  const reply = decodeMessage(await client.receive())
  client.destroy()
  expect([reply.rcode, reply.answer.length]).toEqual([formErr, 0])
})

test('a transfer shows the addresses of all enabled members, and nothing of others', async () => {
  const { answer: answers } = await ask(nodes.get('open 1')!, {})
  const lines = linesOf(answers)
  for (const service of conformanceConfig.services) {
    if (!service.domain.endsWith('.example.org.')) continue
    for (const address of service.addresses) {
      const type = address.includes(':') ? 'AAAA' : 'A'
      const line = `${service.domain} ${service.ttlSeconds} IN ${type} ${address}`
      const isShown = service.isDisabled !== true && zoneOf(service.domain) === 'example.org.'
      expect(lines.includes(line), line).toBe(isShown)
    }
  }
  expect(answers[0]).toMatchObject({ name: 'example.org.', type: 6 })
  expect(answers.at(-1)).toEqual(answers[0])
})

function zoneOf(domain: string): string {
  const names = conformanceConfig.zones.map(({ name }) => name)
  const enclosing = names.filter((name) => domain === name || domain.endsWith(`.${name}`))
  return enclosing.sort((a, b) => b.length - a.length)[0]!
}

test('the catalog zone lists all zones, each below a label of its own', async () => {
  const { answer: answers } = await ask(nodes.get('open 1')!, { question: catalogAxfr })
  const soa = 'catalog.example.net. 0 IN SOA invalid. invalid. 1 3600 600 2147483646 0'
  const [first, ns, version, ...rest] = answers.map(lineOf)
  expect([first, rest.pop()]).toEqual([soa, soa])
  expect(ns).toBe('catalog.example.net. 0 IN NS invalid.')
  expect(version).toBe('version.catalog.example.net. 0 IN TXT "2"')
  const members = rest.map((line) => {
    const shape = /^([0-9a-f]{32})\.zones\.catalog\.example\.net\. 0 IN PTR (\S+)$/
    return shape.exec(line)?.slice(1) ?? expect.unreachable(line)
  })
  const zones = conformanceConfig.zones.map(({ name }) => name)
  expect(members.map(([, zone]) => zone).sort()).toEqual(zones.sort())
  expect(new Set(members.map(([label]) => label)).size).toBe(members.length)
  // A secondary starts a zone anew when its label changes: this is the hash of \7example\3org\0.
  expect(members.find(([, zone]) => zone === 'example.org.')?.[0]).toBe(
    '640cf2756b8440ae2a68b531b69257ec',
  )
})

test('with 100 clients at once, ten transfers run and the others are refused', async () => {
  const node = nodes.get('open 1')!
  const clients = await Promise.all(Array.from({ length: 100 }, () => TcpClient.connect(node)))
  for (const client of clients) client.send(query('example.org. AXFR'))
  const replies = await Promise.all(clients.map((client) => client.receive()))
  for (const client of clients) client.destroy()
  const rcodes = replies.map((reply) => decodeMessage(reply).rcode)
  expect(rcodes.every((rcode) => rcode === 0 || rcode === refused)).toBe(true)
  expect(rcodes.filter((rcode) => rcode === 0).length).toBeGreaterThan(0)
  expect((await ask(node, {})).rcode).toBe(0)
})
