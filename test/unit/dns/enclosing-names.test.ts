// Names above a name, and whether one is inside a zone.
import { expect, test } from 'vitest'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'

test('the enclosing names are listed from the nearest', () => {
  expect([...enclosingNames('a.b.example.com.')]).toEqual([
    'b.example.com.',
    'example.com.',
    'com.',
  ])
})

test('a name is inside a zone by whole labels', () => {
  expect(isInside('www.example.com.', 'example.com.')).toBe(true)
  expect(isInside('example.com.', 'example.com.')).toBe(true)
  expect(isInside('badexample.com.', 'example.com.')).toBe(false)
})
