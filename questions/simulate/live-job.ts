// Runs one simulated query, in a thread of its own, on a copy of what a node answers from.
import type { SimulatedQuery, SimulationFault } from '#ports/simulator.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { formatName } from '#dns/name.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { memberNames, setHealth } from '#routing/choose/explain.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { RoutingState } from '#routing/state/state.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import { healthOf } from '#judge/simulate/health.ts'
import { serveOther } from './other-commit.ts'
import type { OtherCommit } from './other-commit.ts'
import { overlaysNow, showOverlays } from '#judge/simulate/overlays.ts'
import { invalid, readQuestion, readTime } from '#judge/simulate/question-text.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import type { SimulatedService } from '#judge/simulate/service.ts'
import { simulate } from '#judge/simulate/simulation.ts'
import type { Simulation, SimulationMemory } from '#judge/simulate/simulation.ts'

export interface LiveJob {
  readonly bundle: Uint8Array
  readonly digest: string
  /** A copy, so that cursors and health of the node do not change. */
  readonly routing: RoutingBuffers
  readonly tables: RoutingTables
  readonly query: SimulatedQuery
  /** A tenant may not assume the health of others' members; null: the caller is no tenant. */
  readonly tenant: string | null
  readonly nowMs: number
  /** Health as another node sees it, by TENANT/POOL/ADDRESS; empty: as this node sees it. */
  readonly seen: ReadonlyMap<string, AssumedHealth>
  /** A bundle that answers in place of the active one. */
  readonly other?: OtherCommit
}

export interface LiveAnswer {
  /** The answer in the form of the API, without node and commit. */
  readonly shown: { readonly service: ShownService | null }
  readonly owner: string | null
  /** Tenant of the service at the name; null: there is none. */
  readonly tenant: string | null
  /** The bundle of another commit, if one was requested, with its digest. */
  readonly other?: { readonly bytes: Uint8Array; readonly digest: string }
}

export async function runLiveJob(
  job: LiveJob,
  memory: SimulationMemory,
): Promise<Result<LiveAnswer, SimulationFault>> {
  const { query, tenant } = job
  const asked = readQuestion(query)
  if (!asked.ok) return asked
  const at = query.at === undefined ? ok(job.nowMs) : readTime(query.at)
  if (!at.ok) return invalid('at', at.error)
  const served = await serve(job)
  if (!served.ok) return invalid('commit', served.error)
  const { bundle, state, tables } = served.value
  if (job.seen.size > 0) setHealth(bundle, state, job.seen)
  const given = query.health
  const unknown = given === undefined ? undefined : assume(bundle, state, given, tenant)
  if (unknown !== undefined) return invalid('health', unknown)
  if (job.seen.size > 0 || given !== undefined || job.other !== undefined) {
    for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  }
  // Without a time, the copy is as the node is, regressions included.
  const isAsNow = query.at === undefined && job.other === undefined
  const overlays = isAsNow ? overlaysNow(bundle, at.value) : showOverlays(bundle, state, at.value)
  const scripts = scriptsOf([bundle], tables, at.value)
  const seed = query.seed ?? 1
  const question = { ...asked.value, seed, count: 0, tables, scripts }
  const result = simulate(bundle, state, question, memory)
  await scripts?.close()
  const isOwn = tenant === null || result.service?.tenant === tenant
  const service = isOwn ? result.service : null
  const shown = {
    ...{ name: formatName(asked.value.qname), type: query.type.toUpperCase(), seed },
    at: new Date(at.value).toISOString(),
    ...shownAnswer(result),
    service: service === null ? null : shownService(service),
    overlays: (overlays ?? []).filter(
      (one) => one.pool === service?.pool && one.tenant === service.tenant,
    ),
  }
  const { bytes } = served.value
  const other = job.other === undefined ? {} : { other: { bytes, digest: bundle.digest } }
  return ok({ shown, owner: result.owner, tenant: result.tenant, ...other })
}

async function serve({ bundle: bytes, digest, routing, tables, other }: LiveJob) {
  const bundle = adoptBundle(bytes, digest)
  const now = { bundle, bytes, state: new RoutingState(bundle, routing), tables }
  return other === undefined ? ok(now) : await serveOther(other, now)
}

/** @returns why the health cannot be assumed, as a clause */
function assume(
  bundle: Bundle,
  state: RoutingState,
  given: Readonly<Record<string, unknown>>,
  tenant: string | null,
): string | undefined {
  const names = Object.keys(given)
  const known = new Set<string>()
  for (let member = 0; member < bundle.counts.members; member++) {
    const both = memberNames(bundle, member)
    if (tenant !== null && !both.some((name) => isOf(tenant, name, both))) continue
    for (const name of both) known.add(name)
  }
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined) return `there is no member "${unknown}"`
  const healths = names.map((name) => [name, healthOf(given[name])] as const)
  setHealth(bundle, state, new Map(healths.flatMap(([name, one]) => (one ? [[name, one]] : []))))
  return undefined
}

/** The longer name of a member begins with its tenant. */
function isOf(tenant: string, name: string, both: readonly string[]): boolean {
  return name === `${tenant}/${both.find((other) => other !== name) ?? ''}`
}

/** The answer in the form of the API. */
export function shownAnswer(answered: Simulation) {
  const { rcode, rule, zone, match, owner, absent, records, ecsScope, signing } = answered
  return {
    ...{ rcode, zone, match, owner, absent, records, scope: ecsScope, signing },
    rule: rule && {
      triggerType: rule.triggerType,
      triggerValue: rule.trigger.replace(/\.$/, ''),
      action: rule.action,
      actionTarget: rule.target.replace(/\.$/, ''),
      source: rule.source,
    },
  }
}

type ShownService = ReturnType<typeof shownService>

export function shownService(service: SimulatedService) {
  const { name, tenant, algorithm, pool, fallback, members, picks, ttlSeconds, trace } = service
  const candidates =
    trace?.candidates ??
    members.flatMap(({ standing, ipAddress }) => (standing === 'candidate' ? [ipAddress] : []))
  return {
    ...{ name, tenantId: tenant, algorithm, ttl: ttlSeconds, pool, fallback, members, picks },
    candidates,
    geoRule: trace?.geoRule ?? null,
    steps:
      trace?.steps.map(({ name: step, before, after, scopeBits, script, missing }) => ({
        ...{ name: step, before, after, scopeBits },
        reason:
          (script === null ? changeOf(before, after) : `${script.outcome}: ${script.reason}`) +
          (missing === undefined ? '' : `: ${missing} on this node`),
      })) ?? plainStep(algorithm, candidates, picks),
  }
}

/** A plain algorithm is shown as one step. */
function plainStep(name: string, before: readonly string[], after: readonly string[]) {
  return [{ name, before, after, scopeBits: 0, reason: changeOf(before, after) }]
}

function changeOf(before: readonly string[], after: readonly string[]): string {
  if (before.length === 0) return 'there is no candidate'
  if (before.join() === after.join()) return 'changes nothing'
  if (after.length < before.length) return `takes ${after.length} of ${before.length}`
  return 'puts them in another order'
}
