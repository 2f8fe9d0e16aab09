// How the tests run: in processes of their own, two at a time. They need git and ssh-keygen.
import { defineConfig } from 'vitest/config'
import { shared } from '#test/support/run-config.ts'

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    // These need other DNS servers: `npm run test:peers`, and in CI with everything else.
    exclude: ['test/peers/**'],
    provide: { stateServers: false },
    maxWorkers: 2,
  },
})
