// Checks that a script compiles, before it is saved; never runs it.
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { loadScriptEngine } from './engine.ts'
import type { ScriptEngine, ScriptFault } from './engine.ts'

// The import waits for them, some ten milliseconds each, so that rules can ask without waiting.
const engines: ScriptEngine[] = [await loadScriptEngine(), await loadScriptEngine()]
const tooDeep = 'it is nested too deeply'
/** More bodies at once break engines only where a tree is wrong by the dozen. */
const unread = 'it was not read, since two others of these files are nested too deeply'

/**
 * Reads a body with the engine that will run it, which refuses what nests deeper than its own stack
 * is. Where the thread's stack is the smaller one (below some 0.7 MiB; Node's main thread has 0.96)
 * such a body takes the engine with it: the next one takes its place, and another one is made.
 */
export function checkScript(body: string): Result<null, ScriptFault> {
  const engine = engines[0]
  if (engine === undefined) return refused(unread)
  const checked = engine.check(body)
  if (!engine.isBroken) return checked
  engines.shift()
  void loadScriptEngine().then((fresh) => engines.push(fresh))
  return refused(tooDeep)
}

const refused = (message: string): Result<null, ScriptFault> => err({ message, line: 0, column: 0 })
