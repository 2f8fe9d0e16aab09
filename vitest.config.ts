// How the tests run: in processes of their own, two at a time. They need git and ssh-keygen.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These need other DNS servers: `npm run test:peers`, and in CI with everything else.
    exclude: ['test/peers/**'],
    provide: { stateServers: false },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
