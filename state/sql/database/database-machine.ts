// Compiles the code of the embedded database so that it stays small.
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { pgliteFile } from './library-files.ts'

/** V8's default; a function that has used it up is compiled again by the optimising compiler. */
export const usualBudget = 13_000_000
const endlessBudget = 2_000_000_000

/** Node has it, but its types belong to browsers. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

let machine: object | undefined

/**
 * V8 optimises functions of WebAssembly that have run for a while. For a database with a few
 * queries a second that costs 30 MiB and, during a start, more time than it saves: a statement is
 * as fast without. V8 reads its budget when a module is made, and scripts of the answer path need
 * theirs, so it is changed for these milliseconds only.
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
