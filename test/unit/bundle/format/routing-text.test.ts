import { expect, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import { plainRouting } from '#bundle/format/model.ts'
import { parseRoutingText } from '#bundle/format/routing-text.ts'

const { asnRulesMax, asnOrgLengthMax, signalRegionsMax } = bundleLimits
const rule = { asn: 64_500, org: '', endpoint: 0 }
const isRead = (parts: object): boolean => {
  const { signals, latency } = plainRouting
  return (
    parseRoutingText(JSON.stringify({ asnRules: [], signals, latency, ...parts })) !== undefined
  )
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
})

test.each([
  ['more ASN rules', { asnRules: Array(asnRulesMax + 1).fill(rule) }],
  ['a longer organisation', { asnRules: [{ ...rule, org: 'x'.repeat(asnOrgLengthMax + 1) }] }],
  ['more regions with a signal', regions(signalRegionsMax + 1)],
  ['a signal that is no number', { signals: { weight: 0.5, static: { DE: '1' } } }],
  ['a rule that is a list', { asnRules: [[]] }],
])('%s are refused', (_what, parts) => {
  expect(isRead(parts)).toBe(false)
})
