import { expect, test } from 'vitest'
import { assert, unreachable } from '#lib/assert.ts'

test('an assertion that holds says nothing', () => {
  expect(() => assert(true, 'it holds')).not.toThrow()
})

test('an assertion that fails says what should have held', () => {
  expect(() => assert(1 > 2, 'one is above two')).toThrow('assertion failed: one is above two')
})

test('a case that cannot be names its value', () => {
  const colour = JSON.parse('"blue"') as 'red'
  const nameOf = (): string => (colour === 'red' ? 'red' : unreachable(colour))
  expect(nameOf).toThrow('assertion failed: unexpected value blue')
})
