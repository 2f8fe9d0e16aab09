// What the runs of the tests have in common, and which files are in which of them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config'
import { FlakyReporter } from './flaky-reporter.ts'
import type { Lane } from './lane.ts'
import { SlowReporter } from './slow-reporter.ts'

const root = join(import.meta.dirname, '../..')
const isCi = (process.env['CI'] ?? '') !== ''
const isOnGithub = process.env['GITHUB_ACTIONS'] === 'true'

// What one process has compiled, the next need not: threads that tests start in their own process,
// and the processes that they start. `bin/gslbd` does the same.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/gslbd')

const perFile = {
  pool: 'forks',
  setupFiles: ['test/support/setup.ts'],
  // A busy machine is no reason to fail; what hangs is found all the same.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 120_000, interval: 10 } },
  // A test that passes at its second try loses nobody's work, and is named at the end.
  retry: isCi ? 1 : 0,
} satisfies ViteUserConfig['test']

export const shared = {
  ...perFile,
  reporters: [
    'default',
    ...(isOnGithub ? ['github-actions'] : []),
    new FlakyReporter(root),
    new SlowReporter(root),
  ],
} satisfies ViteUserConfig['test']

/** They measure or fill their own process, start threads in it, or replace what others use. */
const apart = [
  'test/e2e/**/*.test.ts',
  'test/unit/runtime/**/*.test.ts',
  'test/contract/{ways,plain-ways}.test.ts',
  'test/property/mmdb.test.ts',
  'test/unit/api/metrics/metrics.test.ts',
  'test/unit/bundle/load/load.test.ts',
  'test/unit/compiler/hostile-files.test.ts',
  'test/unit/gitops/write/one-fault.test.ts',
  'test/unit/state/sql.test.ts',
]
/** They need other DNS servers: `npm run test:peers`. */
const peers = 'test/peers/**'
const everything = ['test/**/*.test.ts']

/** Files that ask for their lane: the others would do the same again. */
export const filesOfLongLane = (): string[] =>
  globSync('test/**/*.test.ts', { cwd: root }).filter((path) =>
    readFileSync(join(root, path), 'utf8').includes("/support/lane.ts'"),
  )

/**
 * Two processes at a time. Loading the program costs most files more than their tests: those that
 * disturb nobody follow each other in one process, which loads it once.
 */
export function runOf(lane: Lane): ViteUserConfig {
  const include = lane === 'short' ? everything : filesOfLongLane()
  const project = (
    name: string,
    isolate: boolean,
    files: { readonly include: string[]; readonly exclude: string[] },
  ): TestProjectInlineConfiguration => ({
    test: { ...perFile, ...files, name, isolate, provide: { stateServers: false, lane } },
  })
  const isApart = (path: string): boolean => globSync(apart, { cwd: root }).includes(path)
  const long = { apart: include.filter(isApart), together: include.filter((p) => !isApart(p)) }
  const short = { apart, together: everything }
  const files = lane === 'short' ? short : long
  return {
    test: {
      ...shared,
      maxWorkers: 2,
      projects: [
        project('apart', true, { include: files.apart, exclude: [peers] }),
        project('together', false, { include: files.together, exclude: [peers, ...apart] }),
      ],
    },
  }
}
