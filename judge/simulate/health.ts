// Loads the assumed health of a simulation from a file into a routing state.
import { readFileSync } from 'node:fs'
import type { Bundle } from '#bundle/format/bundle.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isFields, textOfFile } from '#lib/text/json.ts'
import { didYouMean } from '#lib/suggest.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { memberNames, setHealth } from '#routing/choose/explain.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { HealthDetails } from './question.ts'

/**
 * Applies `{"POOL/ADDRESS": false}`. In place of `false` also `{"healthy": true, "score": 0.5,
 * "rttMs": 12}`, or the status of a member as the API returns it.
 *
 * @returns an error as a sentence, or the applied health and the names that no member of this
 * bundle has
 */
export function applyHealthFile(
  bundle: Bundle,
  state: RoutingState,
  path: string,
): Result<AppliedHealth, string> {
  const healthy = readHealth(path)
  if (!healthy.ok) return healthy
  const unknown = setHealth(bundle, state, healthy.value)
  for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  return ok({ unknown, words: healthSummary(bundle, healthy.value) })
}

export interface AppliedHealth {
  readonly unknown: readonly string[]
  /** Details by number of the member. */
  readonly words: ReadonlyMap<number, HealthDetails>
}

function healthSummary(
  bundle: Bundle,
  given: ReadonlyMap<string, GivenHealth>,
): ReadonlyMap<number, HealthDetails> {
  const words = new Map<number, HealthDetails>()
  for (let member = 0; member < bundle.counts.members; member++) {
    for (const name of memberNames(bundle, member)) {
      const { words: said } = given.get(name) ?? {}
      if (said !== undefined) words.set(member, said)
    }
  }
  return words
}

type GivenHealth = AssumedHealth & { readonly words?: HealthDetails }

/** A sentence about the first name that no member has. */
export function unknownMember(bundle: Bundle, path: string, name: string): string {
  const known = Array.from({ length: bundle.counts.members }, (_, i) => memberNames(bundle, i))
  return `${path}: there is no member "${name}"${didYouMean(name, known.flat())}`
}

/** Health by the names of `memberNames`. Errors: a sentence that names the path. */
export function readHealth(path: string): Result<ReadonlyMap<string, GivenHealth>, string> {
  let value: unknown
  try {
    value = JSON.parse(textOfFile(readFileSync(path)))
  } catch (error) {
    return err(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return healthIn(value, path)
}

/** @param source the name of the text in errors: a path or an address */
export function healthIn(
  value: unknown,
  source: string,
): Result<ReadonlyMap<string, GivenHealth>, string> {
  const remedy = 'write {"POOL/ADDRESS": true or false, …}, or {"healthy", "score", "rttMs"}'
  const shape = `${source}: ${remedy}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return err(shape)
  const members = new Map<string, GivenHealth>()
  for (const [name, given] of Object.entries(value)) {
    const health = healthOf(given)
    if (health === undefined) return err(shape)
    members.set(name, health)
  }
  return ok(members)
}

/** Fields of a member's status in the API that decide no answer. */
const passedOver: ReadonlySet<string> = new Set([
  ...['globalRttMs', 'warming', 'warmupPasses', 'warmupThreshold'],
  ...['healthyNodes', 'totalNodes', 'nodes', 'probed', 'resolved', 'resolvedAt', 'resolveError'],
  ...['weight', 'enabled', 'declaredWeight', 'declaredEnabled', 'heldBy'],
])
const reasonLengthMax = 500

/** @returns undefined for a value that states no health */
export function healthOf(value: unknown): GivenHealth | undefined {
  if (typeof value === 'boolean') return { healthy: value }
  if (!isFields(value)) return undefined
  const { healthy = true, score, rttMs, ...more } = value
  const { reason = '', since = 0, lastCheck = 0, ...rest } = more
  const isKnown = Object.keys(rest).every((name) => passedOver.has(name))
  if (typeof healthy !== 'boolean' || !isKnown) return undefined
  if (typeof reason !== 'string' || !isTime(since) || !isTime(lastCheck)) return undefined
  const words = { reason: printable(reason), since, lastCheck }
  const isSaid = reason !== '' || since > 0 || lastCheck > 0
  if (score !== undefined && !isBetween(score, 0, 1)) return undefined
  if (rttMs !== undefined && !isBetween(rttMs, 0, 60_000)) return undefined
  return {
    healthy,
    ...(score === undefined ? {} : { score: score as number }),
    ...(rttMs === undefined ? {} : { rttMs: rttMs as number }),
    ...(isSaid ? { words } : {}),
  }
}

/**
 * Whether the value is a time in milliseconds that JavaScript can express (ECMA-262, time values).
 */
function isTime(value: unknown): value is number {
  return isBetween(value, 0, 8.64e15)
}

function printable(text: string): string {
  return text.slice(0, reasonLengthMax).replace(/\p{Cc}/gu, ' ')
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}
