// Where the program is that tests start as a process: its source, or the same in fewer files.
import { join } from 'node:path'
import { inject } from 'vitest'
import { bundledProgram } from './bundled-program.ts'

export const sourcePath = join(import.meta.dirname, '../../cli/main.ts')

/**
 * The file to start gslbd with. Node spends more than half of a start's CPU time on finding and
 * loading 2,700 files: the short lane starts a bundle of them. The long lane, the peers,
 * `bin/gslbd` and what runs in the process of a test take the source.
 */
export function programPath(): string {
  return inject('lane') === 'long' ? sourcePath : join(bundledProgram(), 'main.js')
}
