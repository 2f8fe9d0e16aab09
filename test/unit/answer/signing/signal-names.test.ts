// CDS and CDNSKEY of a zone below the names of its name servers, in the zone that has those: what a
// parent takes a first DS from. RFC 9615.
import { describe, expect, test } from 'vitest'
import { packSignals, SignalNames, signalNamesMax } from '#answer/signing/signal-names.ts'
import { noSignal } from '#answer/signing/signer.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { everyUse, KeyUse } from '#dns/dnssec/key-record.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { RrType } from '#dns/rrtype.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { answering, signaturesIn, typesIn } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'

const served = 'new.served.test.'
const server = `ns1.${signedName}`
const signal = `_dsboot.new.served.test._signal.${server}`
const text = `$ORIGIN ${served}
@ 300 SOA ${server} hostmaster 1 3600 600 86400 60
@ 300 NS ${server}
@ 300 NS ns.elsewhere.test.
@ 300 NS ns
ns 300 A 192.0.2.99
`

/** A zone of name servers, with a wildcard beside them, and a zone that they serve. */
function modelOf(hasSignals = true, more = ''): BundleModel {
  const model = signedModel(13, [], `ns1 300 A 127.0.0.1\nns2 300 A 127.0.0.2\n${more}`)
  const child = modelOfWritten({ name: served, text })
  const [zone] = child.zones
  const [first, ...rest] = model.zones
  return {
    ...model,
    zones: [
      { ...first!, ...(hasSignals && { hasSignals: true as const }) },
      ...rest,
      { ...zone!, algorithm: 15 },
    ],
    rrsets: [...model.rrsets, ...child.rrsets.map((one) => ({ ...one, zone: model.zones.length }))],
  }
}

const keyOf = (name: string, algorithm: number, use: number = everyUse, flags = 257) => {
  const key = generateZoneKey(signingAlgorithm(algorithm)!, flags)
  return { zone: wireName(name), key, use }
}
const ksk = keyOf(signedName, 13, KeyUse.Published | KeyUse.SignsKeys | KeyUse.InCds)
const zsk = keyOf(signedName, 13, KeyUse.Published | KeyUse.SignsRecords, 256)
const of = keyOf(served, 15)
const bundle = bundleOf(modelOf(true, '*.ns1 300 TXT "any"\n*.ns2 300 TXT "any"\n'))
const ask = answering(bundle, packKeys([ksk, zsk, of])).ask

test.each([
  ['CDS', dsRdata(wireName(served), of.key, DigestType.Sha256)],
  ['CDNSKEY', of.key.rdata],
])('%s of the zone is there, signed by the key of records', (type, rdata) => {
  const reply = ask(`${signal} ${type}`)
  expect([reply.rcode, typesIn(reply.answer)]).toEqual([0, [type, 'RRSIG']])
  expect(Buffer.from(reply.answer[0]!.rdata)).toEqual(Buffer.from(rdata))
  expect(signaturesIn(reply).map((one) => one.rdata.readUInt16BE(16))).toEqual([zsk.key.tag])
  expect(typesIn(ask(`${signal.toUpperCase()} ${type}`).answer)).toEqual([type, 'RRSIG'])
  const plain = ask(`${signal} ${type}`, { opt: { dnssecOk: false } })
  expect([plain.rcode, typesIn(plain.answer)]).toEqual([0, [type]])
})

/** @returns the types that the NSEC record of a denial lists */
function denied(question: string): { rcode: number; types: readonly number[] } {
  const reply = ask(question)
  expect(typesIn(reply.authority)).toEqual(['SOA', 'RRSIG', 'NSEC', 'RRSIG'])
  const { rdata } = reply.authority.find(({ type }) => type === RrType.NSEC)!
  for (let at = rdata.lastIndexOf(0, rdata.length); at < rdata.length; at++) void at
  return { rcode: reply.rcode, types: bitsOf(Buffer.from(rdata)) }
}

/** Behind the next name. RFC 4034 section 4.1.2. */
function bitsOf(rdata: Buffer): number[] {
  let at = 0
  while (rdata[at] !== 0) at += rdata[at]! + 1
  const types: number[] = []
  for (at++; at < rdata.length; at += 2 + rdata[at + 1]!) {
    for (let i = 0; i < rdata[at + 1]! * 8; i++) {
      if ((rdata[at + 2 + (i >> 3)]! & (0x80 >> (i & 7))) !== 0) types.push(rdata[at]! * 256 + i)
    }
  }
  return types
}

const { RRSIG, NSEC, CDS, CDNSKEY, NXNAME } = RrType
test.each([
  ['another type there', `${signal} A`, 0, [RRSIG, NSEC, CDS, CDNSKEY]],
  ['a name between', `served.test._signal.${server} CDS`, 0, [RRSIG, NSEC]],
  ['the top of them', `_signal.${server} TXT`, 0, [RRSIG, NSEC]],
  ['another zone', `_dsboot.other.test._signal.${server} CDS`, 0, [RRSIG, NSEC, NXNAME]],
  ['a name below', `x.${signal} CDS`, 0, [RRSIG, NSEC, NXNAME]],
  ['a wildcard, which ends there', `x._signal.${server} TXT`, 0, [RRSIG, NSEC, NXNAME]],
])('%s is denied, with proof', (_what, question, rcode, types) => {
  expect(denied(question)).toEqual({ rcode, types })
})

test.each([
  ['a server that serves none of our zones', `x._signal.ns2.${signedName} TXT`],
  ['a name that only looks like it', `x.y_signal.${server} TXT`],
])('a wildcard stands for names below %s', (_what, question) => {
  expect(typesIn(ask(question).answer)).toEqual(['TXT', 'RRSIG'])
})

test('a name server inside its zone tells nothing of it', () => {
  const reply = ask(`_dsboot.new.served.test._signal.ns.${served} CDS`)
  expect(typesIn(reply.answer)).toEqual([])
})

describe.each([
  ['its zone does not say so', bundleOf(modelOf(false)), [ksk, zsk, of]],
  ['the keys of the zone are not here', bundle, [ksk, zsk]],
  ['records are written there', bundleOf(modelOf(true, '_signal.ns1 300 TXT "own"\n')), [ksk, zsk]],
])('where %s', (_what, other, keys) => {
  test('there is no signal', () => {
    const reply = answering(other, packKeys(keys)).ask(`${signal} CDS`)
    expect(typesIn(reply.answer)).toEqual([])
    expect(typesIn(reply.authority)).toContain('NSEC')
  })
})

test('before the parent may have a DS of the zone there are none, which is proved', () => {
  const early = { ...of, use: everyUse & ~KeyUse.InCds }
  const reply = answering(bundle, packKeys([ksk, zsk, early])).ask(`${signal} CDS`)
  const nsec = reply.authority.find(({ type }) => type === RrType.NSEC)!
  expect([typesIn(reply.answer), bitsOf(Buffer.from(nsec.rdata))]).toEqual([[], [RRSIG, NSEC]])
})

test('names beyond the most that there may be are counted', () => {
  // Three names each: of the zone, of _dsboot above it is none, and those between.
  const zones = Array.from({ length: 10_050 }, (_, i) => `z${i}.many.test.`)
  const model = modelOf()
  const [first, ...rest] = model.zones
  const nameservers = [{ name: server, addresses: [] }]
  const many = bundleOf({
    ...model,
    zones: [
      first!,
      ...rest,
      ...zones.map((name) => ({ ...model.zones.at(-1)!, name, nameservers })),
    ],
  })
  const { memory, leftOut } = packSignals(many, () => true)
  const names = new SignalNames(memory!, many)
  const told = (zone: string) =>
    names.at(wireName(`_dsboot.${zone}_signal.${server}`), 0) !== noSignal
  expect(leftOut).toBe(zones.filter((zone) => !told(zone)).length)
  expect(leftOut).toBeGreaterThan(0)
  expect(names.count).toBeLessThanOrEqual(signalNamesMax + 1)
  expect(packSignals(many, () => false)).toEqual({ memory: null, leftOut: 0 })
})
