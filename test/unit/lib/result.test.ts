import { expect, test } from 'vitest'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

function half(value: number): Result<number, 'odd'> {
  return value % 2 === 0 ? ok(value / 2) : err('odd')
}

test('a result is a value, or an error that the type makes its reader look at', () => {
  const good = half(4)
  const bad = half(3)
  expect(good.ok ? good.value : good.error).toBe(2)
  expect(bad.ok ? bad.value : bad.error).toBe('odd')
})

test('a value that is undefined is still a value', () => {
  expect(ok(undefined)).toEqual({ ok: true, value: undefined })
  expect(err(undefined).ok).toBe(false)
})
