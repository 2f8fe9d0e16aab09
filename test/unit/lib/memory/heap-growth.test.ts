// The flag of V8 that has a process collect its garbage sooner or later.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { growthFlags } from '#lib/memory/heap-growth.ts'

// When V8 collects depends on how fast a machine is; that this one still knows the flag does not.
// While a program runs, V8 takes a flag that it does not know without a word.
test.each([
  [growthFlags.sooner, 0],
  [growthFlags.later, 0],
  [growthFlags.later.replace('growing', 'shrinking'), 9],
])('node %s ends with %i', (flag, status) => {
  expect(spawnSync(process.execPath, [flag, '-e', '0']).status).toBe(status)
})
