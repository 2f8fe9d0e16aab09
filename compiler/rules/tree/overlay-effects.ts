// Finds rollouts and windows that leave a pool without members at some instant.
import { isCoarse, stepWeight } from '#routing/time/rollout.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { HealthCheck } from '#schemas/objects/health-check.ts'
import type { Member } from '#schemas/objects/member.ts'
import { isHostname, targetOf } from '#compiler/values/member-target.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import { instantText } from '#compiler/values/instants.ts'
import { eventsByPool } from '#compiler/lower/overlay-events.ts'
import type { OverlayEvent } from '#compiler/lower/overlay-events.ts'
import type { PlannedRollout } from '#compiler/lower/overlay-plan.ts'
import { waysOfService } from '#compiler/tree/service-ways.ts'
import { whyUnmeasured } from '#compiler/lower/routing-facts.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'

export const overlayEffects: TreeRule = {
  name: 'overlay-effects',
  check(subject, report) {
    for (const planned of subject.overlays.rollouts) {
      checkWeights(planned, report)
      checkRegressions(planned, report)
    }
    checkEmptied(subject, report)
  },
}

function checkWeights({ entry, model }: PlannedRollout, report: TreeReport): void {
  if (model === undefined) return
  const { baseWeight, steps } = model
  if (baseWeight === 0) {
    const field = entry.object.spec.baseWeight === undefined ? 'pool' : 'baseWeight'
    report('rollout-of-nothing', placeIn(entry, valueAt('spec', field)))
    return
  }
  const coarse = steps.findIndex((step) => isCoarse(baseWeight, step))
  if (coarse < 0) return
  const given = String(stepWeight(baseWeight, steps[coarse]!))
  const args = [String(steps[coarse]!.weightPct), String(baseWeight), given]
  const at = placeIn(entry, valueAt('spec', 'steps', coarse, 'weightPct'))
  report('rollout-coarse', at, { args })
}

const signals = ['minHealthScore', 'minHealthyMembers', 'maxRttDeltaMs'] as const

/** Signals that nothing measures. */
function checkRegressions({ entry, poolEntry, model }: PlannedRollout, report: TreeReport): void {
  const { regressionPolicy: policy } = entry.object.spec
  if (policy === undefined || poolEntry === undefined || model === undefined) return
  const { healthCheck } = poolEntry.object.spec
  for (const field of signals) {
    if (policy[field] === 0) continue
    const missing = missingFor(field, healthCheck)
    if (missing === undefined) continue
    const [has, remedy] = missing
    const args = [field, poolEntry.object.metadata.name, has, remedy]
    report('regression-never-trips', placeIn(entry, keyAt('spec', 'regressionPolicy', field)), {
      args,
    })
  }
}

/** @returns what the pool has, and what it should be given */
function missingFor(
  field: (typeof signals)[number],
  check: HealthCheck | undefined,
): readonly [string, string] | undefined {
  if (check === undefined) return ['no health check', 'a healthCheck']
  if (field === 'minHealthScore' && check.scoreWindow === 0) {
    return ['a health check without scoreWindow', 'a scoreWindow in its healthCheck']
  }
  const unmeasured = field === 'maxRttDeltaMs' ? whyUnmeasured(check) : undefined
  return unmeasured === undefined
    ? undefined
    : [unmeasured, 'a healthCheck that measures time: any type but script and webhook']
}

function checkEmptied({ tree, overlays }: RuleSubject, report: TreeReport): void {
  const events = eventsByPool(overlays)
  if (events.size === 0) return
  const seen = new Set<string>()
  for (const service of tree.of.Service) {
    const { pool: name, onAllDown } = service.object.spec
    const pool = name === null ? undefined : tree.poolNamed.get(name)
    const ofPool = pool === undefined ? undefined : events.get(pool)
    if (pool === undefined || ofPool === undefined) continue
    const fallback = fallbackPoolOf(service.object.spec)
    const standIn = fallback === undefined ? undefined : tree.poolNamed.get(fallback)
    // Other services of the pool would say the same.
    const isWeighted = dividesByWeight(waysOfService(service.object.spec))
    const key = `${name} ${onAllDown} ${isWeighted}`
    if (seen.has(key)) continue
    seen.add(key)
    // Where all are asked when too few are healthy, too few are enough.
    const minHealthy = onAllDown === 'all' ? 0 : pool.object.spec.minHealthy
    for (const [family, isOfFamily] of families) {
      const asked = { isOfFamily, isWeighted }
      const emptied = firstEmptied(pool, ofPool, asked, minHealthy)
      if (emptied === undefined) continue
      if (standIn !== undefined && standsThroughout(standIn, events, asked)) continue
      const { metadata } = service.object
      const args = [instantText(emptied.atMs), metadata.name, family, name!]
      const place = emptied.change === 'out' ? valueAt('spec', 'startAt') : valueAt('spec', 'steps')
      report('overlay-empties-service', placeIn(emptied.entry, place), { args })
    }
  }
}

/** True when a pool has somebody to answer with, whatever rollouts and windows there are. */
function standsThroughout(
  pool: Entry<'Pool'>,
  events: ReadonlyMap<Entry<'Pool'>, readonly OverlayEvent[]>,
  asked: Asked,
): boolean {
  const { members, minHealthy } = pool.object.spec
  const hasMember = members.some(
    (member) => member.enabled && weighsIn(member, asked) && hasFamily(member, asked.isOfFamily),
  )
  return hasMember && firstEmptied(pool, events.get(pool) ?? [], asked, minHealthy) === undefined
}

/** What a service looks for. */
interface Asked {
  readonly isOfFamily: (ipAddress: string) => boolean
  /** It divides its answers by weight. */
  readonly isWeighted: boolean
}

function weighsIn({ weight }: { readonly weight: number }, { isWeighted }: Asked): boolean {
  return weight > 0 || !isWeighted
}

/** A host name may have addresses of both. */
function hasFamily(member: Member, isOfFamily: (ipAddress: string) => boolean): boolean {
  return isHostname(member) || isOfFamily(targetOf(member))
}

const families: readonly (readonly [string, (ipAddress: string) => boolean])[] = [
  ['IPv4', (ipAddress) => !ipAddress.includes(':')],
  ['IPv6', (ipAddress) => ipAddress.includes(':')],
]

/**
 * @param minHealthy with fewer members than this, of both families, the pool answers nothing
 * @returns the event after which nobody of the family is left, every member being healthy; none
 *   when there was nobody from the start
 */
function firstEmptied(
  pool: Entry<'Pool'>,
  events: readonly OverlayEvent[],
  asked: Asked,
  minHealthy: number,
): OverlayEvent | undefined {
  const members = pool.object.spec.members.map((member) => ({
    isCounted: member.enabled && hasFamily(member, asked.isOfFamily),
    isEnabled: member.enabled,
    weight: member.weight,
    windows: 0,
  }))
  const isReady = (member: (typeof members)[number]): boolean =>
    member.isEnabled && member.windows === 0
  const isIn = (member: (typeof members)[number]): boolean =>
    member.isCounted && weighsIn(member, asked) && member.windows === 0
  let inRotation = members.filter(isIn).length
  let ready = members.filter(isReady).length
  let poolWindows = 0
  if (inRotation === 0 || ready < minHealthy) return undefined
  for (const [i, event] of events.entries()) {
    const { change, member: position, atMs } = event
    const isWindow = change === 'out' || change === 'back'
    const step = change === 'out' ? 1 : -1
    if (isWindow && position < 0) poolWindows += step
    else {
      const member = members[position]!
      const [was, wasReady] = [isIn(member), isReady(member)]
      if (isWindow) member.windows += step
      else member.weight = change.weight
      inRotation += Number(isIn(member)) - Number(was)
      ready += Number(isReady(member)) - Number(wasReady)
    }
    const isLastOfInstant = events[i + 1]?.atMs !== atMs
    const isEmpty = inRotation === 0 || ready < minHealthy || poolWindows > 0
    if (isLastOfInstant && isEmpty) return event
  }
  return undefined
}
