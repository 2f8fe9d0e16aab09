// The code of the embedded database, compiled so that it stays small.
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { pgliteFile } from './library-files.ts'

/** V8's own; a function is compiled once more, for speed, when it has used it up. */
export const usualBudget = 13_000_000
const endlessBudget = 2_000_000_000

/** Node has it; the types of browsers are not there. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

let machine: object | undefined

/**
 * V8 compiles functions of WebAssembly once more when they have run for a while. For a database
 * that is asked a few times a second this costs 30 MiB and, in the seconds of a start, more time
 * than it saves: a statement is as fast without. V8 reads its budget when a module is made, and
 * scripts of the answer path need theirs: so it is another one for these milliseconds only.
 *
 * @throws the error of the file system
 */
export function databaseMachine(): object {
  if (machine !== undefined) return machine
  const bytes = readFileSync(pgliteFile('pglite.wasm'))
  setFlagsFromString(`--wasm-tiering-budget=${endlessBudget}`)
  try {
    machine = new WebAssembly.Module(bytes)
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`)
  }
  return machine
}
