// Steps of a chain in a form: what is read is written again, and a step that is moved keeps order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Schema } from '#dashboard/api/schema.ts'
import { innerKindOf } from '#dashboard/forms/inner-fields.ts'
import { endBefore, kindsOf, moved, placeAt, stepOf, textOfStep } from '#dashboard/forms/steps.ts'
import { filterNamed, filters, spellingsOf } from '#routing/choose/ways.ts'
import { NewService, ServicePatch } from '#api/resources/service.ts'

const chain = NewService.properties.filterChain as unknown as Schema
const kinds = kindsOf(chain)

test('the bodies of a service say what each filter of a chain is, in a line', () => {
  expect(innerKindOf(chain)).toBe('steps')
  const { properties } = ServicePatch as unknown as Schema
  expect(kindsOf(properties!['filterChain']!)).toEqual(kinds)
  expect(kinds.map(({ name }) => name)).toEqual(filters.map(({ name }) => name))
  for (const { name, description } of kinds) {
    expect([name, description]).toEqual([name, expect.stringMatching(/^[a-z][^\n\]]{10,100}$/)])
  }
})

test('each spelling of a filter is a step, and is written as it was read', () => {
  for (const way of filters) {
    for (const spelling of spellingsOf(way)) {
      const text = way.argument === undefined ? spelling : `${spelling}:a:b\nc`
      const { name, kind, draft } = stepOf(text, kinds)
      expect([name, kind?.name]).toEqual([spelling, way.name])
      expect(textOfStep(name, kind, draft)).toBe(text)
    }
  }
})

test('every entry of a chain is kept, and is a step where the node knows one', () => {
  const names = fc.constantFrom(...filters.flatMap(spellingsOf), 'geo-pi', '')
  const entry = fc.tuple(names, fc.option(fc.string(), { nil: undefined }))
  const text = entry.map(([name, rest]) => (rest === undefined ? name : `${name}:${rest}`))
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (one) => {
      const { name, kind, draft } = stepOf(one, kinds)
      if (one === 'script') return expect([name, kind?.name]).toEqual([one, 'script'])
      expect(kind?.name).toBe(filterNamed(one)?.way.name)
      expect(textOfStep(name, kind, draft)).toBe(one)
    }),
  )
  expect(stepOf(5, kinds)).toEqual({ name: '5', kind: undefined, draft: {} })
})

test.each([
  [0, 2, ['b', 'c', 'a']],
  [2, 0, ['c', 'a', 'b']],
  [1, 1, ['a', 'b', 'c']],
])('the step %i comes to stand at %i', (from, to, expected) => {
  expect(moved(['a', 'b', 'c'], from, to)).toEqual(expected)
})

test.each([
  [0, 5, 0],
  [0, 25, 1],
  [0, 99, 2],
  [2, 5, 0],
  [2, 15, 1],
  [1, 22, 1],
])('step %i that is dragged to %i stands at %i', (from, y, expected) => {
  expect(placeAt([10, 20, 30], from, y)).toBe(expected)
})

test('a step after a selecting filter is never reached', () => {
  const steps = ['sticky', 'failover', 'rum'].map((one) => stepOf(one, kinds))
  expect(steps.map((_, i) => endBefore(steps, i)?.name)).toEqual([undefined, undefined, 'failover'])
})
