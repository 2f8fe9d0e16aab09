// Whether a script can be run at all: asked before it is saved, and never runs it.
import type { Result } from '#lib/result.ts'
import { loadScriptEngine } from './engine.ts'
import type { ScriptEngine, ScriptFault } from './engine.ts'

// The import waits for them, some ten milliseconds each, so that rules can ask without waiting.
const engines: ScriptEngine[] = [await loadScriptEngine(), await loadScriptEngine()]
/** More at once break only where bodies are wrong by the dozen. */
const tooDeep = 'it is nested too deeply'

/**
 * Reads a body with the engine that will run it. A body may nest so deep that the engine gives up:
 * the next one takes its place, and another one is made.
 */
export function checkScript(body: string): Result<null, ScriptFault> {
  const engine = engines[0]
  if (engine === undefined) return { ok: false, error: { message: tooDeep, line: 0, column: 0 } }
  const checked = engine.check(body)
  if (!engine.isBroken) return checked
  engines.shift()
  void loadScriptEngine().then((fresh) => engines.push(fresh))
  return { ok: false, error: { message: tooDeep, line: 0, column: 0 } }
}
