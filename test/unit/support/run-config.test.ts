// Which files each lane has.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { longOnly } from '#test/support/run-config.ts'

const root = join(import.meta.dirname, '../../..')

test('a file of the long lane alone does not ask for its lane', () => {
  const whole = globSync(longOnly, { cwd: root })
  expect(whole.length).toBeGreaterThan(longOnly.length)
  const asking = whole.filter((path) =>
    readFileSync(join(root, path), 'utf8').includes('/support/lane.ts'),
  )
  expect(asking).toEqual([])
})

test.each(longOnly)('%s names files that are there', (pattern) => {
  expect(globSync(pattern, { cwd: root })).not.toEqual([])
})
