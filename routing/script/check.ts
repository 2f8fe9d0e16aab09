// Checks that a script compiles before it is saved; never runs it.
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { ScriptEngine, ScriptFault } from './engine.ts'

/** undefined: not loaded. */
let engines: ScriptEngine[] | undefined
let loading: Promise<void> | undefined
const tooDeep = 'it is nested too deeply'
/** Only a tree with many faulty scripts breaks more engines than there are. */
const unread = 'it was not read, since two others of these files are nested too deeply'

/**
 * Await it before the first `checkScript`, which is synchronous. Takes some fifty milliseconds of
 * CPU time for each of two engines, which most trees do not need.
 */
export function loadScriptCheck(): Promise<void> {
  loading ??= Promise.all([anotherEngine(), anotherEngine()]).then((loaded) => {
    engines = loaded
  })
  return loading
}

/** Imported on demand: without scripts the engine is not loaded. */
async function anotherEngine(): Promise<ScriptEngine> {
  const { loadScriptEngine } = await import('./engine.ts')
  return loadScriptEngine()
}

export const isScriptCheckLoaded = (): boolean => engines !== undefined

/**
 * Parses a body with the engine that will run it, which refuses nesting deeper than its own stack.
 * Where the thread's stack is smaller (below some 0.7 MiB; Node's main thread has 0.96), such a
 * body breaks the engine: the spare one takes its place, and another is made.
 */
export function checkScript(body: string): Result<null, ScriptFault> {
  assert(engines !== undefined, 'the script engine is loaded before a script is checked')
  const [engine] = engines
  if (engine === undefined) return refused(unread)
  const checked = engine.check(body)
  if (!engine.isBroken) return checked
  engines.shift()
  void anotherEngine().then((fresh) => engines?.push(fresh))
  return refused(tooDeep)
}

const refused = (message: string): Result<null, ScriptFault> => err({ message, line: 0, column: 0 })
