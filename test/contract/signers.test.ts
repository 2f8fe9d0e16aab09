// What every signer promises, and which rrsets of an answer it is given. A new one gets its row.
import { beforeAll, describe, expect, test } from 'vitest'
import type { RrsetModel } from '#bundle/format/model.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import { noSigner } from '#answer/signing/signer.ts'
import type { Signer } from '#answer/signing/signer.ts'
import { Transaction } from '#answer/transaction.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { typeName, typeNumber } from '#test/support/dns/codes.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message, QueryParts } from '#test/support/dns/message.ts'
import { encodeName } from '#test/support/dns/name.ts'
import { lineOf } from '#test/support/dns/record.ts'
import type { ResourceRecord } from '#test/support/dns/record.ts'
import { staticZone } from '#test/support/dns/static-zone.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { FakeSigner, SlotCache } from '#test/support/fake-signer.ts'
import { laneCount } from '#test/support/lane.ts'
import { rule } from '#test/support/response-rules.ts'
import { txtRdata, writtenNames } from '#test/support/txt-records.ts'

const rrsig = typeNumber('RRSIG')
const apex = encodeName(staticZone.name)
const text = `${staticZone.text}
hosts MX 10 ns1
hosts MX 20 www
long TXT ${'x'.repeat(200)}
long TXT ${'y'.repeat(200)}
long TXT ${'z'.repeat(200)}
fill MX 10 www
fill MX 20 ns1
fill MX 30 ${'p'.repeat(60)}.${'z'.repeat(60)}.example.net.
fill MX 30 ${'q'.repeat(60)}.${'y'.repeat(60)}.example.net.
fill MX 30 ${'r'.repeat(60)}.${'x'.repeat(60)}.example.net.
`
const written = modelOfWritten({ ...staticZone, text })
const txt = (name: string, zoneRow: number, bytes: number): RrsetModel => ({
  ...{ name, zone: zoneRow, type: 16, ttlSeconds: 60 },
  rdata: [txtRdata('x'.repeat(bytes))],
})
const main = bundleOf({
  ...written,
  zones: [...written.zones, zone('other.example.')],
  rrsets: [...written.rrsets, txt('text.other.example.', 1, 9)],
  pools: [
    pool(1, ['192.0.2.9', '192.0.2.10']),
    pool(2, [member('', { hostname: 'cdn.example.net.' })], { answer: 'cname' }),
  ],
  services: [
    service(1, 'app.example.org.', { algorithm: 'failover' }),
    service(2, 'two.example.org.', { filterChain: ['failover'], answerCount: 2 }),
    service(3, 'cdn.example.org.', { algorithm: 'failover', pool: 1 }),
    service(4, 'app.other.example.', { algorithm: 'failover', zone: 1 }),
  ],
  responseRules: [
    rule(1, 'exact', 'bad.example.org.'),
    rule(2, 'exact', 'moved.example.org.', { action: 'cname', target: 'www.example.org.' }),
  ],
})
const atRunTime = (name: string, type: number, rdata: Uint8Array) =>
  ({ name, type, rdata: Buffer.from(rdata), ttlSeconds: 60 }) as const
const { handed } = encodeWritten(
  writtenNames([
    atRunTime('new.example.org.', 16, txtRdata('written')),
    atRunTime('host.example.org.', 1, Buffer.of(192, 0, 2, 20)),
    atRunTime('host.example.org.', 49, Buffer.of(0, 2, 1, 99, 96)),
    atRunTime('other.example.org.', 5, encodeName('host.example.org.')),
    atRunTime('srv.example.org.', 33, Buffer.from([0, 0, 0, 0, 0, 80, ...encodeName('host.')])),
    atRunTime('www.example.org.', 28, Buffer.alloc(16, 1)),
    atRunTime('www.example.org.', 12, encodeName('host.example.org.')),
  ]),
  main,
)
const routing = createRoutingState(main, 1).buffers
const { bytes, digest } = main
const generation = { number: 1, bundle: bytes, digest, dynamic: handed, routing }

interface Asked {
  /** The same question again and again. */
  readonly repeat: (packet: Uint8Array, times: number) => void
  readonly octets: (question: string, parts?: QueryParts) => Buffer
  readonly ask: (question: string, parts?: QueryParts) => Message
}

function answering(signer: Signer): Asked {
  const settings = { nsid: '', versionBind: '', tcpIdleTimeoutMs: 0, udpPayloadSize: 4_096 }
  const tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
  tx.adopt(createServingView({ ...generation, tables: noRoutingTables }))
  tx.signer = signer
  const slot = new Uint8Array(4_096)
  const reply = (packet: Uint8Array): number => {
    for (let i = 0; i < packet.length; i++) slot[i] = packet[i]!
    return answer(tx, slot, 0, packet.length, slot, 0, slot.length)
  }
  const octets = (question: string, parts: QueryParts = {}): Buffer => {
    const opt = { udpSize: 4_096, dnssecOk: true, ...parts.opt }
    return Buffer.from(slot.subarray(0, reply(query(question, { id: 1, ...parts, opt }))))
  }
  const repeat = (packet: Uint8Array, times: number): void => {
    for (let i = 0; i < times; i++) reply(packet)
  }
  return { repeat, octets, ask: (question, parts) => decodeMessage(octets(question, parts)) }
}

/** What DO is asked for, and the rrsets of which zone data may be signed: in their order. */
const questions: readonly (readonly [question: string, signed: readonly string[]])[] = [
  ['app.example.org. A', ['app.example.org. A']],
  ['app.example.org. AAAA', ['example.org. SOA']],
  ['two.example.org. A', ['two.example.org. A']],
  ['cdn.example.org. A', ['cdn.example.org. CNAME']],
  ['www.example.org. TXT', ['www.example.org. TXT']],
  ['www.example.org. ANY', ['www.example.org. HINFO']],
  ['new.example.org. TXT', ['new.example.org. TXT']],
  ['host.example.org. A', ['host.example.org. A']],
  ['host.example.org. AAAA', ['example.org. SOA']],
  ['srv.example.org. SRV', ['srv.example.org. SRV']],
  ['other.example.org. A', ['other.example.org. CNAME', 'host.example.org. A']],
  ['other.example.org. CNAME', ['other.example.org. CNAME']],
  ['www.example.org. PTR', ['www.example.org. PTR']],
  ['example.org. NS', ['example.org. NS', 'ns1.example.org. A']],
  ['hosts.example.org. MX', ['hosts.example.org. MX', 'ns1.example.org. A', 'www.example.org. A']],
  [
    'alias.example.org. A',
    ['alias.example.org. CNAME', 'Alias2.example.org. CNAME', 'www.example.org. A'],
  ],
  ['lost.example.org. A', ['lost.example.org. CNAME', 'example.org. SOA']],
  ['x.star.example.org. A', ['x.star.example.org. CNAME', 'www.example.org. A']],
  // The alias that a DNAME makes is not signed.
  ['host.old.example.org. A', ['old.example.org. DNAME', 'host.new.example.org. A']],
  ['none.example.org. A', ['example.org. SOA']],
  // Neither the NS records of a cut nor what is below it.
  ['www.sub.example.org. A', ['ns1.example.org. A']],
  ['tosub.example.org. A', ['tosub.example.org. CNAME', 'ns1.example.org. A']],
  ['sub.example.org. DS', ['sub.example.org. DS']],
  // What a response rule says is no zone's.
  ['bad.example.org. A', []],
  ['moved.example.org. A', ['www.example.org. A']],
  ['app.other.example. A', []],
  ['text.other.example. TXT', []],
  ['www.example.com. A', []],
]

/** The signer under test is asked for the zone `example.org.` alone. */
const signers: readonly (readonly [name: string, open: () => Signer, signs: boolean])[] = [
  ['none', () => noSigner, false],
  ['a fake', () => new FakeSigner(0, apex, new SlotCache(64)), true],
]

const sections = ['answer', 'authority', 'additional'] as const
const isSignature = ({ type }: ResourceRecord): boolean => type === rrsig
const covered = ({ name, rdata }: ResourceRecord): string =>
  `${name} ${typeName(rdata.readUInt16BE(0))}`

describe.each(signers)('signer: %s', (_name, open, signs) => {
  const plain = answering(noSigner)

  test.each(questions)('%s: signatures stand behind what they cover', (question, signed) => {
    const reply = answering(open()).ask(question)
    const bare = plain.ask(question)
    for (const section of sections) {
      const records = reply[section]
      expect(records.filter((one) => !isSignature(one)).map(lineOf)).toEqual(
        bare[section].map(lineOf),
      )
      for (const [i, record] of records.entries()) {
        const before = records[i - 1]
        if (isSignature(record)) expect(covered(record)).toBe(rrsetOf(before))
      }
    }
    const found = sections.flatMap((section) => reply[section].filter(isSignature).map(covered))
    expect(found).toEqual(signs ? signed : [])
    expect([reply.rcode, reply.aa, reply.tc]).toEqual([bare.rcode, bare.aa, false])
  })

  test.each(questions)('%s: without DO nothing is signed', (question) => {
    const opt = { dnssecOk: false }
    expect(answering(open()).octets(question, { opt })).toEqual(plain.octets(question, { opt }))
  })

  test('asked again, an answer is the same', () => {
    const { octets } = answering(open())
    const twice = [0, 1].map(() => questions.map(([question]) => octets(question)))
    expect(twice[1]).toEqual(twice[0])
  })

  test.each([
    ['long.example.org. TXT', 1],
    ['fill.example.org. MX', 2],
  ])(
    '%s: signatures that do not fit truncate, those of the additional section stay away',
    (question, least) => {
      const { ask } = answering(open())
      const whole = ask(question)
      const lengths = new Set<number>()
      for (let udpSize = 512; udpSize < whole.bytes.length; udpSize++) {
        const reply = ask(question, { opt: { udpSize } })
        lengths.add(reply.bytes.length)
        expect(reply.bytes.length).toBeLessThanOrEqual(udpSize)
        expect(reply.answer).toEqual(reply.tc ? [] : whole.answer)
        const signatures = reply.additional.filter(isSignature)
        const signed = reply.additional.length - signatures.length
        expect(signatures.length).toBe(signs ? signed : 0)
      }
      expect(lengths.size).toBeGreaterThanOrEqual(least)
    },
  )

  const packetOf = (question: string): Uint8Array =>
    query(question, { id: 1, opt: { udpSize: 4_096, dnssecOk: true } })
  // The code settles once for all questions, so that the windows of each can be short.
  beforeAll(() => {
    const { repeat } = answering(open())
    for (const [question] of questions) repeat(packetOf(question), 2_000)
  })

  test.each(questions)('%s: nothing is allocated', (question) => {
    const { repeat } = answering(open())
    const packet = packetOf(question)
    expect(
      allocatedBytesPerCall((times) => repeat(packet, times), laneCount(2_000, 300)),
    ).toBeLessThan(1)
  })
})

function rrsetOf(record: ResourceRecord | undefined): string {
  return record === undefined ? 'nothing' : `${record.name} ${typeName(record.type)}`
}

test('a signature is made once, and found in the cache from then on', () => {
  const cache = new SlotCache(64)
  const { ask } = answering(new FakeSigner(0, apex, cache))
  for (let i = 0; i < 3; i++) ask('alias.example.org. A')
  expect(cache.found).toBe(6)
})
