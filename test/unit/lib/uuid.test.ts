// Identifiers by time, also where the clock is wrong.
import { expect, test } from 'vitest'
import { uuidV7 } from '#lib/uuid.ts'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an id of a later moment sorts behind', () => {
  expect(uuidV7(1_700_000_000_000) < uuidV7(1_700_000_000_001)).toBe(true)
  expect(uuidV7(1_700_000_000_000.7)).toMatch(form)
})

test.each([-1, -62_135_596_800_000, 2 ** 48, Number.MAX_SAFE_INTEGER])(
  'a clock at %d ms gives an id all the same',
  (nowMs) => {
    expect(uuidV7(nowMs)).toMatch(form)
    expect(uuidV7(nowMs)).not.toBe(uuidV7(nowMs))
  },
)
