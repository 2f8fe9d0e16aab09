// The health that a simulation assumes: a file that names members, put into a routing state.
import { readFileSync } from 'node:fs'
import type { Bundle } from '#bundle/format/bundle.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { memberNames, setHealth } from '#routing/choose/explain.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import type { RoutingState } from '#routing/state/state.ts'

/**
 * Applies `{"POOL/ADDRESS": false}`; in place of `false` also `{"healthy": true, "score": 0.5,
 * "rttMs": 12}`.
 *
 * @returns an error as a sentence, or the names that no member of this bundle has
 */
export function applyHealthFile(
  bundle: Bundle,
  state: RoutingState,
  path: string,
): Result<readonly string[], string> {
  const healthy = readHealth(path)
  if (!healthy.ok) return healthy
  const unknown = setHealth(bundle, state, healthy.value)
  for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  return ok(unknown)
}

/** A sentence about the first name that no member has. */
export function unknownMember(bundle: Bundle, path: string, name: string): string {
  const known = Array.from({ length: bundle.counts.members }, (_, i) => memberNames(bundle, i))
  const near = suggest(name, known.flat())
  const hint = near === undefined ? '' : `; did you mean "${near}"?`
  return `${path}: there is no member "${name}"${hint}`
}

function readHealth(path: string): Result<ReadonlyMap<string, AssumedHealth>, string> {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return err(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const remedy = 'write {"POOL/ADDRESS": true or false, …}, or {"healthy", "score", "rttMs"}'
  const shape = `${path}: ${remedy}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return err(shape)
  const members = new Map<string, AssumedHealth>()
  for (const [name, given] of Object.entries(value)) {
    const health = healthOf(given)
    if (health === undefined) return err(shape)
    members.set(name, health)
  }
  return ok(members)
}

function healthOf(value: unknown): AssumedHealth | undefined {
  if (typeof value === 'boolean') return { healthy: value }
  if (typeof value !== 'object' || value === null) return undefined
  const { healthy = true, score, rttMs, ...rest } = value as Record<string, unknown>
  if (typeof healthy !== 'boolean' || Object.keys(rest).length > 0) return undefined
  if (score !== undefined && !isBetween(score, 0, 1)) return undefined
  if (rttMs !== undefined && !isBetween(rttMs, 0, 60_000)) return undefined
  return {
    healthy,
    ...(score === undefined ? {} : { score: score as number }),
    ...(rttMs === undefined ? {} : { rttMs: rttMs as number }),
  }
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}
