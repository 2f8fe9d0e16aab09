// Several keys of a zone: which records hold which of them, and what each signs.
import { describe, expect, test } from 'vitest'
import { KeyMemory, packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse, KeyUse } from '#dns/dnssec/key-record.ts'
import type { HandedKey } from '#answer/signing/signing-keys.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { coveredOctets, rrsigFixedBytes } from '#test/support/dns/rrsig.ts'
import { dsRdata, generateZoneKey, keyTag } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { typeName } from '#test/support/dns/codes.ts'
import type { Message } from '#test/support/dns/message.ts'
import { answering, full, signaturesIn, typesIn } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const { Published, SignsRecords, SignsKeys, InCds } = KeyUse
const zone = wireName(signedName)
const bundle = bundleOf(signedModel(13, ['192.0.2.10']))
const make = (algorithm = 13): ZoneKey => generateZoneKey(signingAlgorithm(algorithm)!)
const [one, other, third] = [make(), make(15), make()]
/** RSA, of which nothing can sign here. */
const foreign = { rdata: Uint8Array.from([1, 0, 3, 8, 3, 1, 0, 1, 9, 9, 9, 9]), privateKey: null }

const of = (key: HandedKey['key'], use: number): HandedKey => ({ zone, key, use })
const tagsOf = (reply: Message): number[] =>
  signaturesIn(reply).map(({ rdata }) => rdata.readUInt16BE(16))
const tags = (...keys: readonly HandedKey['key'][]): number[] =>
  keys.map(({ rdata }) => keyTag(rdata))

const rolling = [
  of(one, Published | SignsKeys | InCds),
  of(other, Published | SignsKeys),
  of(third, Published | SignsRecords),
  of(foreign, Published),
]

describe('keys and their uses', () => {
  const { ask } = answering(bundle, packKeys(rolling))

  test('the records of keys are those that are published', () => {
    const reply = ask(full('@ DNSKEY'))
    const rdata = reply.answer.slice(0, 4).map((record) => Uint8Array.from(record.rdata))
    expect(rdata).toEqual([one, other, third, foreign].map((key) => Uint8Array.from(key.rdata)))
    expect(tagsOf(reply)).toEqual(tags(one, other))
  })

  test.each(['CDS', 'CDNSKEY'])('%s has those that the parent is to know', (type) => {
    const reply = ask(full(`@ ${type}`))
    const [record] = reply.answer
    const wanted = type === 'CDS' ? dsRdata(zone, one, 2) : one.rdata
    expect(Uint8Array.from(record!.rdata)).toEqual(Uint8Array.from(wanted))
    expect(typesIn(reply.answer)).toEqual([type, 'RRSIG', 'RRSIG'])
    expect(tagsOf(reply)).toEqual(tags(one, other))
  })

  test.each(['www A', 'app A', '@ SOA', 'none A'])('%s: another key signs', (question) => {
    expect(new Set(tagsOf(ask(full(question))))).toEqual(new Set(tags(third)))
  })
})

test('while an algorithm rolls, each rrset has a signature by either, and both are right', () => {
  const { ask } = answering(bundle, packKeys([of(one, everyUse), of(other, everyUse)]))
  for (const [question, count] of [
    ['www A', 1],
    ['app A', 1],
    ['@ DNSKEY', 1],
    ['none A', 2],
  ] as const) {
    const [reply, again] = [ask(full(question)), ask(full(question))]
    expect(again.bytes).toEqual(reply.bytes)
    expect(tagsOf(reply)).toEqual(Array.from({ length: count }, () => tags(one, other)).flat())
  }
  const { answer } = ask(full('www A'))
  const rdata = answer.slice(0, 3).map((record) => record.rdata)
  for (const [i, key] of [one, other].entries()) {
    const signature = answer[3 + i]!.rdata
    const headEnd = rrsigFixedBytes + zone.length
    const rrset = { owner: wireName(full('www A').split(' ')[0]!), type: 1, ttlSeconds: 300, rdata }
    const octets = coveredOctets(signature.subarray(0, headEnd), rrset)
    const isRight = key.algorithm.verify(octets, signature.subarray(headEnd), key.privateKey)
    expect(isRight).toBe(true)
  }
})

test('signatures that do not all fit truncate the reply', () => {
  const { ask } = answering(bundle, packKeys([of(one, everyUse), of(other, everyUse)]))
  const { length } = ask(full('www A')).bytes
  // OPT has 11 octets and the signature of the second key 109.
  const reply = ask(full('www A'), { opt: { udpSize: Math.max(512, length - 1) } })
  expect(reply.tc).toBe(length > 512)
  expect(ask(full('text TXT'), { opt: { udpSize: 512 } }).tc).toBe(false)
})

test('a zone where nobody is asked for a DS has no CDS, which is proved', () => {
  const { ask } = answering(bundle, packKeys([of(one, everyUse ^ InCds)]))
  for (const type of ['CDS', 'CDNSKEY']) {
    const { answer, authority } = ask(full(`@ ${type}`))
    expect(answer).toEqual([])
    expect(authority.map((one) => typeName(one.type))).toEqual(['SOA', 'RRSIG', 'NSEC', 'RRSIG'])
  }
  // No denial of the apex lists what it has not.
  const { rdata } = ask(full('@ TXT')).authority.find(({ type }) => typeName(type) === 'NSEC')!
  expect(rdata.subarray(15).toString('hex')).toBe('000722010000000380')
})

test('a zone without a key that signs records is SERVFAIL, its keys are not', () => {
  const { ask } = answering(bundle, packKeys([of(one, Published | SignsKeys), of(foreign, 1)]))
  expect(ask(full('www A')).rcode).toBe(2)
  expect(ask(full('@ DNSKEY')).rcode).toBe(0)
  expect(answering(bundle, packKeys([of(foreign, 1)])).ask(full('@ DNSKEY')).rcode).toBe(2)
})

test('a signing key must have a private half of a known algorithm', () => {
  for (const use of [SignsRecords, SignsKeys]) {
    expect(() => packKeys([of(foreign, use)])).toThrow('has a private half')
  }
  const secret = one.privateKey.export({ format: 'der', type: 'pkcs8' })
  const key = { rdata: one.rdata, privateKey: secret }
  expect(packKeys([of(key, everyUse)])).toEqual(packKeys([of(one, everyUse)]))
})

test('other keys of one zone leave those of another as they are', () => {
  const memory = new KeyMemory()
  const signatures = new SharedArrayBuffer(0)
  const zones = ['a.example.', 'B.example.'].map(wireName)
  const at = (number: number, keys: readonly ZoneKey[]) => {
    const handed = keys.map((key, i) => ({ zone: zones[i]!, key, use: everyUse }))
    return memory.keysOf({ number, keys: packKeys(handed), signatures })
  }
  const first = at(1, [one, third])
  const second = at(2, [other, third])
  expect(second[0]).not.toBe(first[0])
  expect(second[1]).toBe(first[1])
  expect(first.map((set) => Buffer.from(set.zone).toString('latin1'))).toEqual([
    '\u0001a\u0007example\0',
    '\u0001b\u0007example\0',
  ])
})

test('new keys sign at once, and the table does not mistake one for another', () => {
  const { ask, take } = answering(bundle, packKeys([of(one, everyUse)]))
  const before = ask(full('www A'))
  take(packKeys([of(third, everyUse)]))
  expect(tagsOf(ask(full('www A')))).toEqual(tags(third))
  take(packKeys([of(one, everyUse)]))
  expect(ask(full('www A')).bytes).toEqual(before.bytes)
})
