// Whether a script can be run at all: asked before it is saved, and never runs it.
import type { Result } from '#lib/result.ts'
import { loadScriptEngine } from './engine.ts'
import type { ScriptFault } from './engine.ts'

// The import waits for it, some ten milliseconds, so that rules can ask without waiting.
let engine = await loadScriptEngine()

/** Reads a body with the engine that will run it. */
export function checkScript(body: string): Result<null, ScriptFault> {
  const checked = engine.check(body)
  if (engine.isBroken) void loadScriptEngine().then((fresh) => (engine = fresh))
  return checked
}
