// The tests against servers of others: Knot and NSD, PostgreSQL and Redis. They fail without them.
import { defineConfig } from 'vitest/config'
import { shared } from '#test/support/run-config.ts'

export default defineConfig({
  test: {
    ...shared,
    include: [
      'test/peers/**/*.test.ts',
      'test/contract/state/**/*.test.ts',
      'test/property/usage.test.ts',
    ],
    // See .ci/run.
    exclude: process.env['GSLB_WITHOUT_PYPI'] ? ['test/peers/otlp-messages.test.ts'] : [],
    provide: { stateServers: true, lane: 'long' },
    // They wait more than they compute.
    maxWorkers: 2,
  },
})
