// The tests against servers of others: Knot and NSD, PostgreSQL and Redis. They fail without them.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'test/peers/**/*.test.ts',
      'test/contract/state/**/*.test.ts',
      'test/property/usage.test.ts',
    ],
    provide: { stateServers: true },
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
})
