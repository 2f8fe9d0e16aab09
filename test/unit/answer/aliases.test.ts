// Aliases that lead to services and wildcards, and what a client's subnet does to them.
import { describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { wireOf } from '#bundle/encode/record-pool.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { ecs } from '#test/support/dns/ecs.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { QueryParts } from '#test/support/dns/message.ts'
import { said } from '#test/support/dns/said.ts'

const first4 = 0x0a00_0000
const geoRules = { v4: [{ start: first4, end: first4 + 255, endpoints: ['192.0.2.2'] }], v6: [] }
const cname = (name: string, target: string): BundleModel['rrsets'][number] => ({
  name: `${name}.example.org.`,
  zone: 0,
  type: 5,
  ttlSeconds: 60,
  rdata: [wireOf(target)],
})
const label = (letter: string, length = 63): string => letter.repeat(length)
const long = `${label('a')}.${label('b')}.${label('c')}`
const longService = `${label('d')}.${label('e', 60)}.example.org.`
const eight = Array.from({ length: 8 }, (_, i) => `192.0.2.${i + 11}`)
const eightRules = { v4: [{ start: first4, end: first4 + 255, endpoints: eight }], v6: [] }
const bundle = bundleOf({
  zones: [zone('example.org.')],
  pools: [
    pool(1, ['192.0.2.1', '192.0.2.2'], { geoRules }),
    pool(2, ['192.0.2.9']),
    pool(3, eight, { geoRules: eightRules }),
  ],
  services: [
    service(1, 'near.example.org.', { algorithm: 'geo-ip', pool: 0 }),
    service(2, 'plain.example.org.', { pool: 1 }),
    service(3, '*.apps.example.org.', { pool: 1 }),
    service(4, longService, { algorithm: 'geo-ip', pool: 2, answerCount: 8 }),
  ],
  rrsets: [
    cname('one', 'two.example.org.'),
    cname('two', 'NEAR.example.org.'),
    cname('other', 'plain.example.org.'),
    cname('big', `${long}.example.org.`),
    cname(long, longService),
    cname('wild', 'any.apps.example.org.'),
    ...Array.from({ length: 10 }, (_, i) => cname(`l${i}`, `l${i + 1}.example.org.`)),
  ],
})
const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 1_000 }
const tx = new Transaction(settings, 1, counters)
const routing = createRoutingState(bundle, 1).buffers
const { bytes, digest } = bundle
tx.adopt(createServingView({ number: 1, bundle: bytes, digest, routing, tables: noRoutingTables }))
tx.transport = Transport.Udp

function ask(name: string, parts: QueryParts = {}) {
  const asked = query(`${name}.example.org. A`, parts)
  const reply = new Uint8Array(1_232)
  const length = answer(tx, asked, 0, asked.length, reply, 0, reply.length)
  return decodeMessage(Buffer.from(reply.subarray(0, length)))
}

const subnet = (hex: string): QueryParts => ({ opt: { options: [ecs(1, 24, 0, hex)] } })
const scopeOf = ({ opt }: ReturnType<typeof ask>): number => opt!.options[0]!.data[3]!
const owners = (reply: ReturnType<typeof ask>): string[] =>
  reply.answer.map(({ name }) => name.toLowerCase().split('.')[0]!)

describe('an alias that leads to a service', () => {
  test('is followed, and the service answers under its own name', () => {
    expect(said(ask('other')).answer).toEqual([
      'other.example.org. 60 IN CNAME plain.example.org.',
      'plain.example.org. 60 IN A 192.0.2.9',
    ])
  })

  test('gives the first record alone, with scope 0, when it chooses by client subnet', () => {
    const reply = ask('one', subnet('0a0000'))
    expect([owners(reply), scopeOf(reply)]).toEqual([['one'], 0])
    expect(scopeOf(ask('near', subnet('0a0000')))).toBe(24)
  })

  test('does so, too, where the whole chain would not fit', () => {
    const small = { opt: { udpSize: 512, options: [ecs(1, 24, 0, '0a0000')] } }
    const reply = ask('big', small)
    expect([reply.tc, owners(reply), scopeOf(reply)]).toEqual([false, ['big'], 0])
    const cut = ask('big', { opt: { udpSize: 512, options: [ecs(1, 0, 0, '')] } })
    expect([cut.tc, owners(cut), scopeOf(cut)]).toEqual([true, [], 0])
  })

  test('is followed where the client did not count', () => {
    expect(owners(ask('other', subnet('0a0000')))).toEqual(['other', 'plain'])
    expect(owners(ask('one'))).toEqual(['one', 'two', 'near'])
  })
})

test('an answer knows that it was made from a wildcard, and the next one is not', () => {
  expect(owners(ask('wild'))).toEqual(['wild', 'any'])
  expect(tx.isFromWildcard).toBe(true)
  ask('plain')
  expect(tx.isFromWildcard).toBe(false)
})

test('at most eight aliases are followed', () => {
  const reply = ask('l0')
  expect([reply.rcode, owners(reply)]).toEqual([0, Array.from({ length: 9 }, (_, i) => `l${i}`)])
})
