// Path of the program that tests start as a process.
import { join } from 'node:path'
import { bundledProgram } from './bundled-program.ts'

/**
 * The file that starts gslbd: a bundle of the source, as in an installed package. Node spends more
 * than half of a start's CPU time on finding and loading 2,700 files. `bin/gslbd` in a checkout,
 * and code in a test's own process, use the source.
 */
export const programPath = (): string => join(bundledProgram(), 'main.js')
