// The long lane, `npm run test:long`: the files that do a tenth in the short one, in full.
import { defineConfig } from 'vitest/config'
import { runOf } from '#test/support/run-config.ts'

export default defineConfig(runOf('long'))
