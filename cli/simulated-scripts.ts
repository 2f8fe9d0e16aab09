// The scripts of a simulation: run in place, at the simulated time, until one takes too long.
import type { Bundle } from '#bundle/bundle.ts'
import type { RoutingTables } from '#routing/environment.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { scriptBodiesOf } from '#routing/script/bodies.ts'
import { createScriptRunner } from '#routing/script/runner.ts'
import type { ScriptRunner } from '#routing/script/runner.ts'

/** @returns null when none of the bundles has a script: then there is no engine to load */
export async function scriptsOf(
  bundles: readonly Bundle[],
  { geo }: RoutingTables,
  nowMs: number,
): Promise<ScriptRunner | null> {
  if (!bundles.some((bundle) => scriptBodiesOf(bundle).length > 0)) return null
  const elapsedMs = (): number => performance.now()
  return await createScriptRunner({ geo: new GeoTables(geo), nowMs: () => nowMs, elapsedMs })
}

const shownMax = 60

/** @returns a warning for each script that was stopped, for people */
export function stoppedScripts(scripts: ScriptRunner | null): readonly string[] {
  return (scripts?.benched() ?? []).map((body) => {
    const line = body.replaceAll(/\s+/g, ' ').trim()
    const shown = line.length > shownMax ? `${line.slice(0, shownMax)}…` : line
    return `the script "${shown}" took too long and was not run again: it changes nothing here`
  })
}
