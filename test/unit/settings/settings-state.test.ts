import { expect, test } from 'vitest'
import { readSettingsText } from '#settings/file.ts'
import { healthPolicies } from '#health/view/policy.ts'

test.each(healthPolicies)('the policy %s can be set', (policy) => {
  const read = readSettingsText(`state: { healthPolicy: ${policy}, quorumMinPercent: 67 }`, 'f')
  expect(read.ok && [...read.value]).toEqual([
    ['state.healthPolicy', policy],
    ['state.quorumMinPercent', 67],
  ])
})

const rows: readonly [string, string][] = [
  ['state: { healthPolicy: local }', 'write local-or-global-fallback, local-only, prefer-local, '],
  ['state: { healthPolicy: local-onli }', 'did you mean "local-only"?'],
  ['state: { quorumMinPercent: 101 }', 'write a whole number from 1 to 100'],
  ['state: { quorumMinPercent: 0 }', 'write a whole number from 1 to 100'],
  ['state: { nodeName: "fra 1" }', 'letters, digits, dots, dashes and underscores'],
]
test.each(rows)('%s is refused', (text, part) => {
  const read = readSettingsText(text, 'f')
  expect(read.ok ? 'taken' : read.error.join()).toContain(part)
})
