// Signed answers without a socket: what is signed, how long, what a key that is missing does, and
// what an answer costs that was given before.
import { describe, expect, test } from 'vitest'
import { signatureLimits } from '#answer/signing/signature-table.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { validity } from '#answer/signing/signature-times.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { coveredOctets, rrsigFixedBytes } from '#test/support/dns/rrsig.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { typeName, typeNumber } from '#test/support/dns/codes.ts'
import { query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { answering as answeringOf } from '#test/support/dns/signed-answers.ts'
import { full, nowSeconds, signaturesIn, typesIn } from '#test/support/dns/signed-answers.ts'
import type { Answering } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { rule } from '#test/support/response-rules.ts'

const up = ['192.0.2.10', '192.0.2.11']
const model = signedModel(15, up)
const bundle = bundleOf({
  ...model,
  responseRules: [
    rule(1, 'exact', `bad.${signedName}`),
    rule(2, 'exact', `moved.${signedName}`, { action: 'cname', target: `www.${signedName}` }),
  ],
})
const zone = wireName(signedName)
const key = generateZoneKey(signingAlgorithm(15)!)

const answering = (keys = [{ zone, key }]): Answering =>
  answeringOf(bundle, packKeys(keys.map((one) => ({ ...one, use: everyUse }))))

const everything = [
  'www A',
  'app A',
  'many A',
  'alias2 A',
  'host.old A',
  'none A',
  'app AAAA',
  'x.star A',
  'sub A',
  'safe A',
  'www NSEC',
]

test.each(everything)('%s: asked again, the answer is the same, and costs no memory', (name) => {
  const { ask, repeat } = answering()
  const question = full(name)
  if (!question.startsWith('many')) expect(ask(question).bytes).toEqual(ask(question).bytes)
  const packet = query(question, { id: 1, opt: { udpSize: 4_096, dnssecOk: true } })
  expect(allocatedBytesPerCall((times) => repeat(packet, times), 1_000)).toBeLessThan(1)
})

test.each([
  ['www A', ['A', 'A', 'A', 'RRSIG'], []],
  ['app A', ['A', 'RRSIG'], []],
  ['none A', [], ['SOA', 'RRSIG', 'NSEC', 'RRSIG']],
  ['app AAAA', [], ['SOA', 'RRSIG', 'NSEC', 'RRSIG']],
  ['tonone A', ['CNAME', 'RRSIG'], ['SOA', 'RRSIG', 'NSEC', 'RRSIG']],
  ['host.old A', ['DNAME', 'RRSIG', 'CNAME', 'A', 'RRSIG'], []],
  ['x.sub A', [], ['NS', 'NSEC', 'RRSIG']],
  ['x.safe A', [], ['NS', 'DS', 'RRSIG']],
  ['www NSEC', ['NSEC', 'RRSIG'], []],
  ['www RRSIG', ['RRSIG'], []],
  ['none NSEC', ['NSEC', 'RRSIG'], []],
  ['alias NSEC', ['NSEC', 'RRSIG'], []],
  ['alias RRSIG', ['RRSIG'], []],
  ['www ANY', ['HINFO', 'RRSIG'], []],
  // What a rule says is no zone's: RFC 4035 says nothing of it.
  ['bad A', [], ['SOA']],
  ['moved A', ['CNAME', 'A', 'A', 'A', 'RRSIG'], []],
])('%s: %o and %o', (question, answers, authority) => {
  const reply = answering().ask(full(question))
  expect([typesIn(reply.answer), typesIn(reply.authority)]).toEqual([answers, authority])
})

test.each([
  ['none A', ['RRSIG', 'NSEC', 'NXNAME']],
  ['empty.non A', ['RRSIG', 'NSEC']],
  ['app AAAA', ['A', 'RRSIG', 'NSEC']],
  ['mail TXT', ['A', 'AAAA', 'RRSIG', 'NSEC'].sort((a, b) => typeNumber(a) - typeNumber(b))],
  ['sub DS', ['NS', 'RRSIG', 'NSEC']],
  ['x.star AAAA', ['A', 'TXT', 'RRSIG', 'NSEC']],
  ['x.any AAAA', ['A', 'RRSIG', 'NSEC']],
])('%s is denied with the types %o', (question, types) => {
  const { authority } = answering().ask(full(question))
  const { rdata } = authority.find(({ type }) => typeName(type) === 'NSEC')!
  const bits = rdata.subarray(2 + wireName(full(question).split(' ')[0]!).length)
  const found: string[] = []
  for (let at = 0; at < bits.length; at += 2 + bits[at + 1]!) {
    for (let bit = 0; bit < bits[at + 1]! * 8; bit++) {
      const isSet = (bits[at + 2 + (bit >> 3)]! & (0x80 >> (bit & 7))) !== 0
      if (isSet) found.push(typeName(bits[at]! * 256 + bit))
    }
  }
  expect(found).toEqual(types)
})

test('the apex denies with what its key has', () => {
  const { authority } = answering().ask(`${signedName} TXT`)
  const { rdata } = authority.find(({ type }) => typeName(type) === 'NSEC')!
  // NS SOA MX RRSIG NSEC DNSKEY CDS CDNSKEY.
  expect(rdata.subarray(15).toString('hex')).toBe('00082201000000038018')
})

test.each([
  ['DO', { dnssecOk: true }, 0],
  ['DO and CO', { dnssecOk: true, flags: 0x4000 }, 3],
  ['CO alone', { dnssecOk: false, flags: 0x4000 }, 3],
  ['nothing', { dnssecOk: false }, 3],
])('a name that does not exist, for a client that sends %s: %i', (_name, opt, rcode) => {
  const reply = answering().ask(full('none A'), { opt })
  expect(reply.rcode).toBe(rcode)
  expect(signaturesIn(reply)).toHaveLength(opt.dnssecOk ? 2 : 0)
})

test('NXNAME as a question is FORMERR, and says so', () => {
  const reply = answering().ask(full('www NXNAME'))
  expect(reply.rcode).toBe(1)
  expect(reply.opt?.options.map(({ code, data }) => [code, data.readUInt16BE(0)])).toEqual([
    [15, 30],
  ])
})

test('a client without DO gets what it got before', () => {
  for (const question of everything.filter((one) => !/NSEC/.test(one))) {
    const reply = answering().ask(full(question), { opt: { dnssecOk: false } })
    const types = [...typesIn(reply.answer), ...typesIn(reply.authority)]
    expect(types.filter((type) => ['RRSIG', 'NSEC', 'DNSKEY'].includes(type))).toEqual([])
  }
})

describe('signatures', () => {
  const covered = (question: string, reply: Message, owner = question.split(' ')[0]!): boolean => {
    const [signature] = signaturesIn(reply)
    const rrset = reply.answer.filter(({ type }) => typeName(type) !== 'RRSIG')
    const headEnd = rrsigFixedBytes + zone.length
    const head = signature!.rdata.subarray(0, headEnd)
    const { type, ttl } = rrset[0]!
    const rdata = rrset.map((one) => one.rdata)
    const octets = coveredOctets(head, { owner: wireName(owner), type, ttlSeconds: ttl, rdata })
    return key.algorithm.verify(octets, signature!.rdata.subarray(headEnd), key.privateKey)
  }

  test.each(['www A', 'x.star A', '*.star A', 'text TXT'])('%s: is right', (name) => {
    expect(covered(full(name), answering().ask(full(name)))).toBe(true)
  })

  test('are valid at each moment of half a year, and are made anew by then', () => {
    const { ask, at } = answering()
    const begins = new Set<number>()
    for (let day = 0; day < 180; day++) {
      const now = nowSeconds + day * 86_400 + 5
      at(now)
      const reply = ask(full('app A'))
      const { rdata } = signaturesIn(reply)[0]!
      const [expiration, inception] = [rdata.readUInt32BE(8), rdata.readUInt32BE(12)]
      expect(expiration - inception).toBe(validity.total)
      expect(now - inception).toBeGreaterThanOrEqual(validity.backdated)
      expect(expiration - now).toBeGreaterThan(3 * 86_400)
      expect(covered(full('app A'), reply)).toBe(true)
      begins.add(inception)
    }
    const periods = (180 * 86_400) / validity.period
    expect(begins.size - periods).toBeLessThanOrEqual(1)
    expect(begins.size).toBeGreaterThanOrEqual(periods)
  })

  test('end at different times for several rrsets', () => {
    const { ask } = answering()
    const ends = ['www A', 'app A', 'text TXT', 'mail A', 'ns1 A'].map((question) =>
      signaturesIn(ask(full(question)))[0]!.rdata.readUInt32BE(8),
    )
    expect(new Set(ends).size).toBe(5)
  })
})

describe('without the key', () => {
  const { ask } = answering([])

  test.each([...everything.map(full), `${signedName} DNSKEY`, `${signedName} CDS`])(
    '%s is SERVFAIL with a reason, and no record',
    (question) => {
      const reply = ask(question)
      expect([reply.rcode, reply.aa, reply.tc]).toEqual([2, false, false])
      expect([...reply.answer, ...reply.authority]).toEqual([])
      const [error] = reply.opt!.options
      expect(error!.data.readUInt16BE(0)).toBe(14)
      expect(error!.data.subarray(2).toString()).toBe('no key to sign this zone with')
    },
  )

  test('a client that asks for no signatures is answered', () => {
    expect(ask(full('www A'), { opt: { dnssecOk: false } }).answer).toHaveLength(3)
  })

  test('a key of another zone is none', () => {
    const keys = [{ zone: wireName('example.net'), key }]
    expect(answering(keys).ask(full('www A')).rcode).toBe(2)
  })
})

test('a signed reply is truncated at the size of the client, and at 1,232 octets', () => {
  const { ask } = answering()
  for (const question of ['www A', 'none A', 'x.sub A', 'alias2 A'].map(full)) {
    const { length } = ask(question).bytes
    for (const udpSize of [512, length - 1, length]) {
      const reply = ask(question, { opt: { udpSize } })
      expect(reply.bytes.length).toBeLessThanOrEqual(Math.max(512, udpSize))
      expect(reply.tc).toBe(length > Math.max(512, udpSize))
    }
  }
})

test('addresses of a delegated zone are not signed, whatever names them', () => {
  const reply = answering().ask(full('mx MX'))
  expect(typesIn(reply.additional)).toContain('A')
  expect(signaturesIn(reply)).toHaveLength(1)
})

test('names that clients think of get so many new signatures in a second, and TC over UDP', () => {
  const { ask, at } = answering()
  const names = Array.from({ length: signatureLimits.newPerSecond + 5 }, (_, i) => `n${i} A`)
  const cut = names.map((name) => ask(full(name)).tc)
  expect(cut.indexOf(true)).toBe(signatureLimits.newPerSecond)
  // What was signed before, names of the zone, and TCP are answered all the same.
  expect(ask(full('n1 A')).tc).toBe(false)
  expect(ask(full('www A')).tc).toBe(false)
  expect(signaturesIn(ask(full('other A'), { tcp: true }))).toHaveLength(2)
  at(nowSeconds + 1)
  expect(signaturesIn(ask(full('more A')))).toHaveLength(2)
})
