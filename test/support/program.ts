// Path of the program that tests start as a process: its source, or a bundle of it.
import { join } from 'node:path'
import { inject } from 'vitest'
import { bundledProgram } from './bundled-program.ts'

export const sourcePath = join(import.meta.dirname, '../../cli/main.ts')

/**
 * The file that starts gslbd. Node spends more than half of a start's CPU time on finding and
 * loading 2,700 files, so the short lane starts a bundle. The long lane, the peers, `bin/gslbd` and
 * code in a test's own process use the source.
 */
export function programPath(): string {
  return inject('lane') === 'long' ? sourcePath : join(bundledProgram(), 'main.js')
}
