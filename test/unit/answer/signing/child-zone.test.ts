// A signed zone below a signed zone of the same server: the zone above has its DS by itself.
import { expect, test } from 'vitest'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { answering, signaturesIn, typesIn } from '#test/support/dns/signed-answers.ts'
import { childName, modelWithChild, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const keyOf = (name: string, algorithm: number) => ({
  ...{ zone: wireName(name), key: generateZoneKey(signingAlgorithm(algorithm)!), use: everyUse },
})
const above = keyOf(signedName, 13)
const below = keyOf(childName, 15)
const signed = bundleOf(modelWithChild(15))

test('DS of the zone below is that of its key, signed by the zone above', () => {
  const reply = answering(signed, packKeys([above, below])).ask(`${childName} DS`)
  expect(typesIn(reply.answer)).toEqual(['DS', 'RRSIG'])
  const ds = dsRdata(wireName(childName), below.key, DigestType.Sha256)
  expect(Buffer.from(reply.answer[0]!.rdata)).toEqual(Buffer.from(ds))
  // The tag of the key, behind what is signed, its algorithm, labels and times.
  expect(signaturesIn(reply)[0]!.rdata.readUInt16BE(16)).toBe(above.key.tag)
})

test.each([
  ['is not signed', bundleOf(modelWithChild(0)), [above]],
  ['has a key that its parent is not to know yet', signed, [above, { ...below, use: 7 }]],
])('a zone below that %s has none, which is proved', (_, bundle, keys) => {
  const reply = answering(bundle, packKeys(keys)).ask(`${childName} DS`)
  expect(typesIn(reply.answer)).toEqual([])
  expect(typesIn(reply.authority)).toEqual(['SOA', 'RRSIG', 'NSEC', 'RRSIG'])
  expect(signaturesIn(reply).map(({ rdata }) => rdata.readUInt16BE(16))).toEqual([
    above.key.tag,
    above.key.tag,
  ])
})

test('where its key is not here, nobody is told that there is none', () => {
  expect(answering(signed, packKeys([above])).ask(`${childName} DS`).rcode).toBe(2)
})

test('the zone below answers all else itself', () => {
  const { ask } = answering(signed, packKeys([above, below]))
  for (const question of [`www.${childName} A`, `${childName} NSEC`, `${childName} MX`]) {
    const tags = signaturesIn(ask(question)).map(({ rdata }) => rdata.readUInt16BE(16))
    expect(new Set(tags)).toEqual(new Set([below.key.tag]))
  }
})
