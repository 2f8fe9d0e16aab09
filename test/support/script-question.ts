// Writes what a script is asked as the script sees it.
import type { ScriptQuestion } from '#routing/script/engine.ts'

interface ScriptInput {
  readonly candidates: readonly {
    readonly ip: string
    readonly region: string
    readonly weight: number
    readonly priority: number
    readonly health_score: number
    readonly rtt_ms: number
  }[]
  readonly client: object
  readonly qname: string
  readonly qtype: string
  readonly now: number
}

/** The candidates are all members of their pool. */
export function scriptQuestion({ candidates, ...globals }: ScriptInput, seed = 1): ScriptQuestion {
  return {
    members: JSON.stringify(
      candidates.map((one) => ({ ...one, weight: 0, health_score: 0, rtt_ms: 0 })),
    ),
    places: Uint32Array.from(candidates.keys()),
    count: candidates.length,
    values: Float64Array.from(candidates.flatMap((c) => [c.weight, c.health_score, c.rtt_ms])),
    globals: JSON.stringify(globals),
    seed,
  }
}
