// What both runs of the tests have in common.
import { join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import { FlakyReporter } from './flaky-reporter.ts'

const isCi = (process.env['CI'] ?? '') !== ''
const isOnGithub = process.env['GITHUB_ACTIONS'] === 'true'

export const shared = {
  pool: 'forks',
  setupFiles: ['test/support/setup.ts'],
  // A busy machine is no reason to fail; what hangs is found all the same.
  testTimeout: 90_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 45_000, interval: 10 } },
  // A test that passes at its second try loses nobody's work, and is named at the end.
  retry: isCi ? 1 : 0,
  reporters: [
    'default',
    ...(isOnGithub ? ['github-actions'] : []),
    new FlakyReporter(join(import.meta.dirname, '../..')),
  ],
} satisfies ViteUserConfig['test']
