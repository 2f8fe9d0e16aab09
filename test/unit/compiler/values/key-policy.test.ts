// Policies of keys as zones write them, in numbers.
import { expect, test } from 'vitest'
import { lifeMs, listedKeys, rollPolicy } from '#compiler/values/key-policy.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { dnskeyPattern } from '#lib/text/patterns.ts'

const hour = 3_600_000
test.each([
  ['never', null],
  ['0', 0],
  ['30s', 30_000],
  ['15m', 900_000],
  ['36h', 36 * hour],
  ['90d', 90 * 24 * hour],
  ['2y', 730 * 24 * hour],
])('%s', (text, ms) => {
  expect(lifeMs(text)).toBe(ms)
})

test('fields left out have defaults', () => {
  expect(rollPolicy({})).toEqual({
    ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: 2_160 * hour },
    ...{ propagationMs: hour, parentMs: 25 * hour },
  })
  const policy = {
    ...{ ksk: '2y', zsk: 'never', propagation: '0', parentDsTtl: '1h', parentPropagation: '0' },
  }
  expect(rollPolicy({ algorithm: 'ed25519', model: 'kskzsk', policy })).toEqual({
    ...{ model: 'kskzsk', algorithm: 15, defaultAlgorithm: 13, kskMs: 17_520 * hour, zskMs: null },
    ...{ propagationMs: 0, parentMs: hour },
  })
})

const octets = generateZoneKey(signingAlgorithm(13)!).rdata.subarray(4)
const text = `257 3 13 ${Buffer.from(octets).toString('base64')}`

test('keys of other signers are read as their DNSKEY records have them', () => {
  const rdata = Uint8Array.from([1, 1, 3, 13, ...octets])
  expect(listedKeys({ dnskeys: [text] })).toEqual([rdata])
  expect(listedKeys({ dnskeys: [] })).toEqual([])
  expect(listedKeys({})).toBeUndefined()
})

test.each([
  [text, true],
  [text.replace('257', '256'), true],
  [text.replace('257', '385'), false],
  [text.replace(' 3 ', ' 2 '), false],
  [`${text} AAAA`, false],
  [`example.org. IN DNSKEY ${text}`, false],
  ['257 3 13', false],
])('%s is the rdata of a key: %j', (one, is) => {
  expect(new RegExp(dnskeyPattern).test(one)).toBe(is)
})
