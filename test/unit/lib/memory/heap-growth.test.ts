// The flag of V8 that has a command collect its garbage sooner.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { growthFlag } from '#lib/memory/heap-growth.ts'

// When V8 collects depends on how fast a machine is; that this one still knows the flag does not.
// While a program runs, V8 takes a flag that it does not know without a word.
test.each([
  [growthFlag, 0],
  [growthFlag.replace('growing', 'shrinking'), 9],
])('node %s ends with %i', (flag, status) => {
  expect(spawnSync(process.execPath, [flag, '-e', '0']).status).toBe(status)
})
