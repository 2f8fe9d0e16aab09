// Scripts run in place, without a clock: for simulations, whose answers must come out alike again.
import type { GeoTables } from '../geo/geo-tables.ts'
import type { ScriptPort } from '../script-port.ts'
import { ScriptOutcome, scriptOutcomeNames } from './contract.ts'
import { loadScriptEngine } from './engine.ts'
import type { ScriptEngine } from './engine.ts'
import { positionsNamed, scriptInputOf } from './input.ts'
import { keepInOrder } from './reorder.ts'

/** A simulation asks thousands of times; one run of a script may take so much of that. */
const slowMs = 250

export interface ScriptRunnerParts {
  readonly geo: GeoTables
  /** Unix time of the query. */
  readonly nowMs: () => number
  /** Told of each run: one of `scriptOutcomeNames`, and an exception's message. */
  readonly onRun?: (outcome: string, message: string) => void
  /** Monotonic milliseconds. A run that is slow by it is the last one of its script. */
  readonly elapsedMs?: () => number
}

export interface ScriptRunner extends ScriptPort {
  /** Bodies that have used up their time once: they are not run again and change nothing. */
  readonly benched: () => readonly string[]
}

/**
 * Ends a script by its steps alone, so that it runs to the same point on every machine; one that
 * has been ended so is benched. A native function is not ended: give it scripts of people who run
 * the program, or kill the program.
 */
export async function createScriptRunner(parts: ScriptRunnerParts): Promise<ScriptRunner> {
  let engine = await loadScriptEngine()
  const bodies: string[] = []
  const benched = new Set<string>()
  const { elapsedMs = () => 0 } = parts
  return {
    compile(body) {
      const known = bodies.indexOf(body)
      return known < 0 ? bodies.push(body) - 1 : known
    },
    run(script, chain) {
      const body = bodies[script]!
      if (benched.has(body)) {
        parts.onRun?.(scriptOutcomeNames[ScriptOutcome.Benched], '')
        return
      }
      const startedMs = elapsedMs()
      const outcome = runInPlace(engine, body, chain, parts)
      const isSlow = elapsedMs() - startedMs > slowMs
      if (outcome === ScriptOutcome.Timeout || isSlow) benched.add(body)
      if (engine.isBroken) void loadScriptEngine().then((fresh) => (engine = fresh))
    },
    benched: () => [...benched],
  }
}

function runInPlace(
  engine: ScriptEngine,
  body: string,
  chain: Parameters<ScriptPort['run']>[1],
  { geo, nowMs, onRun }: ScriptRunnerParts,
): ScriptOutcome {
  const { bundle, state, members, count, client } = chain
  const qname = Uint8Array.from(chain.qname.subarray(-chain.qnameBytes))
  const query = { members, count, client, qname, isV6: chain.family === 1 }
  const input = scriptInputOf({ bundle, state, geo }, query, nowMs())
  const run = engine.run(body, JSON.stringify(input), chain.random.next() | 0)
  const order = new Uint32Array(count)
  const named = keepInOrder(chain, order, positionsNamed(input, run.addresses, order))
  const isEmpty = run.outcome === ScriptOutcome.Done && named === 0
  onRun?.(scriptOutcomeNames[isEmpty ? ScriptOutcome.Empty : run.outcome], run.message)
  return run.outcome
}
