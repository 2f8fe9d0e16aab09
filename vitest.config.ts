// How the tests run, the short lane: `npm test`. They need git and ssh-keygen.
import { defineConfig } from 'vitest/config'
import { runOf } from '#test/support/run-config.ts'

export default defineConfig(runOf('short'))
