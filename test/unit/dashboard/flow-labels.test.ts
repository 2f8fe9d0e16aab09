// Tests the dashboard's names for the ends of a flow, which are those of a printed plan.
import { expect, test } from 'vitest'
import { sideOf } from '#dashboard/edit/flow-labels.ts'
import { endpointText } from '#judge/print/phrases.ts'

test.each([
  [{ member: '192.0.2.1', pool: '' }, '192.0.2.1'],
  [{ member: '', pool: 'web' }, 'members of web'],
  [{ member: '', pool: '' }, 'members of others'],
])('%j: %s', (side, words) => {
  expect(sideOf(side)).toBe(words)
  expect(endpointText({ ...side, region: 'unknown' })).toBe(words)
})

test('a client without a country belongs to nobody', () => {
  expect(sideOf(null)).toBe('nobody')
})
