import { expect, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import { plainRouting } from '#bundle/format/model.ts'
import { parseRoutingText, routingValues } from '#bundle/format/routing-text.ts'

const { asnRulesMax, asnOrgLengthMax, signalRegionsMax } = bundleLimits
const rule = { asn: 64_500, org: '', endpoint: 0 }
const isRead = (parts: object): boolean => {
  const text = JSON.stringify({ asnRules: [], ...routingValues(plainRouting), ...parts })
  return parseRoutingText(text) !== undefined
}
const regions = (count: number) => ({
  signals: {
    weight: 0.5,
    static: Object.fromEntries(Array.from({ length: count }, (_, i) => [`r${i}`, i])),
  },
})

test('settings within the limits are read', () => {
  expect(isRead({})).toBe(true)
  expect(isRead({ asnRules: Array(asnRulesMax).fill(rule) })).toBe(true)
  expect(isRead({ asnRules: [{ ...rule, org: 'x'.repeat(asnOrgLengthMax) }] })).toBe(true)
  expect(isRead(regions(signalRegionsMax))).toBe(true)
  expect(isRead({ zoneDigests: { 'a.example.': true, 'b.example.': false } })).toBe(true)
})

test.each([
  ['more ASN rules', { asnRules: Array(asnRulesMax + 1).fill(rule) }],
  ['a longer organisation', { asnRules: [{ ...rule, org: 'x'.repeat(asnOrgLengthMax + 1) }] }],
  ['more regions with a signal', regions(signalRegionsMax + 1)],
  ['a signal that is no number', { signals: { weight: 0.5, static: { DE: '1' } } }],
  ['a digest of a zone that is neither wanted nor not', { zoneDigests: { 'a.example.': 1 } }],
  ['digests that are a list', { zoneDigests: [true] }],
  ['a rule that is a list', { asnRules: [[]] }],
])('%s are refused', (_what, parts) => {
  expect(isRead(parts)).toBe(false)
})
