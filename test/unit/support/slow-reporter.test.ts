import { expect, test } from 'vitest'
import { SlowReporter, slowLines } from '#test/support/slow-reporter.ts'
import type { TimedModule } from '#test/support/slow-reporter.ts'

const moduleOf = (name: string, duration: number): TimedModule => ({
  moduleId: `/repo/test/${name}.test.ts`,
  diagnostic: () => ({ collectDuration: 200, setupDuration: 100, duration }),
})
const many = Array.from({ length: 30 }, (_, i) => moduleOf(`f${i}`, i * 1_000))

test('the slowest files come first, with the time of their imports', () => {
  const lines = slowLines([moduleOf('a', 700), moduleOf('b', 12_000)], '/repo')
  expect(lines).toEqual(['   12.3 s  test/b.test.ts', '    1.0 s  test/a.test.ts'])
})

test('twenty are printed at the end of a run, and none of a run of a few files', () => {
  let printed = ''
  const reporter = new SlowReporter('/repo', (text) => (printed += text))
  reporter.onTestRunEnd(many.slice(0, 20))
  expect(printed).toBe('')
  reporter.onTestRunEnd(many)
  expect(printed).toContain('\nThe slowest 20 of 30 files:\n   29.3 s  test/f29.test.ts\n')
  expect(printed.trim().split('\n')).toHaveLength(21)
})
