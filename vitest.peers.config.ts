// The tests against servers of others: Knot and NSD, PostgreSQL and Redis. They fail without them.
import { configDefaults, defineConfig } from 'vitest/config'
import { withoutPypi } from '#test/support/pypi.ts'
import { shared } from '#test/support/run-config.ts'

export default defineConfig({
  test: {
    ...shared,
    include: [
      'test/peers/**/*.test.ts',
      'test/contract/state/**/*.test.ts',
      'test/property/usage.test.ts',
    ],
    exclude: [...configDefaults.exclude, ...withoutPypi],
    provide: { stateServers: true, lane: 'long' },
    // They compute for half of the time on two cores when two run, and wait for the rest.
    maxWorkers: 3,
  },
})
