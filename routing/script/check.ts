// Checks that a script compiles, before it is saved; never runs it.
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { ScriptEngine, ScriptFault } from './engine.ts'

/** undefined: not loaded. */
let engines: ScriptEngine[] | undefined
let loading: Promise<void> | undefined
const tooDeep = 'it is nested too deeply'
/** More bodies at once break engines only where a tree is wrong by the dozen. */
const unread = 'it was not read, since two others of these files are nested too deeply'

/**
 * To be awaited before the first `checkScript`, so that rules can ask without waiting. Takes some
 * fifty milliseconds of CPU time for each of two engines, which most trees do not need.
 */
export function loadScriptCheck(): Promise<void> {
  loading ??= Promise.all([anotherEngine(), anotherEngine()]).then((loaded) => {
    engines = loaded
  })
  return loading
}

/** Where no script is checked, nothing of the engine is loaded. */
async function anotherEngine(): Promise<ScriptEngine> {
  const { loadScriptEngine } = await import('./engine.ts')
  return loadScriptEngine()
}

export const isScriptCheckLoaded = (): boolean => engines !== undefined

/**
 * Reads a body with the engine that will run it, which refuses what nests deeper than its own stack
 * is. Where the thread's stack is the smaller one (below some 0.7 MiB; Node's main thread has 0.96)
 * such a body takes the engine with it: the next one takes its place, and another one is made.
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
