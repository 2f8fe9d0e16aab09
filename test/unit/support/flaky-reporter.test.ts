// A second try is told, not hidden.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FlakyReporter } from '#test/support/flaky-reporter.ts'
import type { FlakyModule } from '#test/support/flaky-reporter.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const moduleOf = (moduleId: string, tests: Readonly<Record<string, boolean>>): FlakyModule => ({
  moduleId,
  children: {
    allTests: () =>
      Object.entries(tests).map(([fullName, flaky]) => ({
        fullName,
        diagnostic: () => ({ flaky }),
      })),
  },
})

test.each([
  ['nothing when each test passed at once', [moduleOf('/repo/test/a.test.ts', { one: false })], ''],
  ['nothing without tests', [], ''],
  [
    'each test that needed its second try, by file and name',
    [
      moduleOf('/repo/test/b.test.ts', { 'group > three': true, four: false }),
      moduleOf('/repo/test/a.test.ts', { one: true, two: false }),
    ],
    '\nflaky: test/a.test.ts > one\nflaky: test/b.test.ts > group > three\n' +
      '2 passed only when run again; each is a defect to mend.\n',
  ],
])('prints %s', (_title, modules, expected) => {
  let printed = ''
  new FlakyReporter('/repo', (text) => (printed += text)).onTestRunEnd(modules)
  expect(printed).toBe(expected)
})

test('passes over a test that was not run', () => {
  let printed = ''
  const children = { allTests: () => [{ fullName: 'skipped', diagnostic: () => undefined }] }
  new FlakyReporter('/repo', (text) => (printed += text)).onTestRunEnd([
    { moduleId: '/repo/test/a.test.ts', children },
  ])
  expect(printed).toBe('')
})

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
const reporter = new URL('../../support/flaky-reporter.ts', import.meta.url).href

test('Vitest tells it which test passed at the second try', async () => {
  const root = tempDir('flaky')
  const config = `import { FlakyReporter } from ${JSON.stringify(reporter)}
    export default { test: { globals: true, include: ['*.test.js'], retry: 1, maxWorkers: 1,
      reporters: [new FlakyReporter(import.meta.dirname)] } }`
  writeFileSync(join(root, 'vitest.config.js'), config)
  writeFileSync(
    join(root, 'some.test.js'),
    `let tries = 0
     describe('a group', () => {
       test('lucky', () => { if (++tries === 1) throw new Error('bad luck') })
       test('sound', () => undefined)
     })`,
  )
  const printed = await new Promise<string>((resolve, reject) => {
    const args = [vitest, 'run', '--root', root, '--config', join(root, 'vitest.config.js')]
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stdout + stderr, { cause: error })),
    )
  })
  expect(printed.trim().split('\n')).toEqual([
    'flaky: some.test.js > a group > lucky',
    '1 passed only when run again; each is a defect to mend.',
  ])
})
