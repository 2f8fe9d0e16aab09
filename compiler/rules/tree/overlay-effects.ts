// Finds the effects of rollouts and windows on pools: no member left, one left, a step without
// effect.
import type { OverlayPlan, PlannedRollout } from '#compiler/lower/overlay-plan.ts'
import { whyUnmeasured } from '#compiler/lower/routing-facts.ts'
import { demandLabel, neededFamilyOf, demandsOn } from '#compiler/redundancy/pool-demand.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import { waysOfService } from '#compiler/tree/service-ways.ts'
import { valueIn, keyIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlacedFile, TreeReport } from '#compiler/tree/tree.ts'
import { instantText } from '#compiler/values/instants.ts'
import { addressFamilies } from '#compiler/values/member-target.ts'
import type { AddressFamily } from '#compiler/values/member-target.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import { isCoarse, rolloutTimeline, stepWeight } from '#routing/time/rollout.ts'
import type { HealthCheck } from '#schemas/objects/health-check.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

/** Finds rollouts and windows that leave a pool without members at some instant. */
export const overlayEffects: TreeRule = (subject, report) => {
  for (const planned of subject.overlays.rollouts) {
    checkWeights(planned, report)
    checkRegressions(planned, report)
  }
  checkEmptied(subject, report)
}

function checkWeights({ entry, model }: PlannedRollout, report: TreeReport): void {
  if (model === undefined) return
  const { baseWeight, steps } = model
  if (baseWeight === 0) {
    const field = entry.object.spec.baseWeight === undefined ? 'pool' : 'baseWeight'
    report('rollout-of-nothing', valueIn(entry, 'spec', field))
    return
  }
  const coarse = steps.findIndex((step) => isCoarse(baseWeight, step))
  if (coarse < 0) return
  const given = String(stepWeight(baseWeight, steps[coarse]!))
  const args = [String(steps[coarse]!.weightPct), String(baseWeight), given]
  const at = valueIn(entry, 'spec', 'steps', coarse, 'weightPct')
  report('rollout-coarse', at, { args })
}

const signals = ['minHealthScore', 'minHealthyMembers', 'maxRttDeltaMs'] as const

/** Finds regression signals that nothing measures. */
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
    report('regression-never-trips', keyIn(entry, 'spec', 'regressionPolicy', field), {
      args,
    })
  }
}

/** @returns what the pool lacks for the signal, and the remedy */
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
    // Other services of the pool would give the same finding.
    const isWeighted = dividesByWeight(waysOfService(service.object.spec))
    const key = `${name} ${onAllDown} ${isWeighted}`
    if (seen.has(key)) continue
    seen.add(key)
    // Where all members are answered when too few are healthy, `minHealthy` does not matter.
    const minHealthy = onAllDown === 'all' ? 0 : pool.object.spec.minHealthy
    for (const family of addressFamilies) {
      const asked = { family, isWeighted }
      const emptied = firstEmptied(pool, ofPool, asked, minHealthy)
      if (emptied === undefined) continue
      if (standIn !== undefined && standsThroughout(standIn, events, asked)) continue
      const args = [instantText(emptied.atMs), service.object.metadata.name, family.name, name!]
      report('overlay-empties-service', placeOf(emptied), { args })
    }
  }
}

const placeOf = ({ entry, change }: OverlayEvent): EntryPlace =>
  valueIn(entry, 'spec', change === 'out' ? 'startAt' : 'steps')

/** True when a pool can answer throughout, whatever rollouts and windows there are. */
function standsThroughout(
  pool: Entry<'Pool'>,
  events: ReadonlyMap<Entry<'Pool'>, readonly OverlayEvent[]>,
  asked: Asked,
): boolean {
  const { minHealthy } = pool.object.spec
  const own = events.get(pool) ?? []
  const hasMember = standingsOf(pool, own, asked).start.left > 0
  return hasMember && firstEmptied(pool, own, asked, minHealthy) === undefined
}

/**
 * @param minHealthy with fewer members than this, of both families, the pool answers nothing
 * @returns the event after which no member of the family is left, all being healthy; none when
 * there was no member from the start
 */
function firstEmptied(
  pool: Entry<'Pool'>,
  events: readonly OverlayEvent[],
  asked: Asked,
  minHealthy: number,
): OverlayEvent | undefined {
  const { start, later } = standingsOf(pool, events, asked)
  const isEmpty = ({ left, ready, isOut }: Standing): boolean =>
    left === 0 || ready < minHealthy || isOut
  return isEmpty(start) ? undefined : later.find(isEmpty)?.event
}

/** The kind of answer that a service needs. */
interface Asked {
  readonly family: AddressFamily
  /** The service divides its answers by weight. */
  readonly isWeighted: boolean
}

/** The remaining members of a pool, assuming all are healthy. */
interface Standing {
  /** Members that the service would answer. */
  readonly left: number
  /** Members of both families that are up, whatever their weight. */
  readonly ready: number
  /** A window covers the whole pool. */
  readonly isOut: boolean
}

interface Standings {
  readonly start: Standing
  /** The state after each instant, with the last event at that instant. */
  readonly later: readonly (Standing & { readonly event: OverlayEvent })[]
}

function standingsOf(
  pool: Entry<'Pool'>,
  events: readonly OverlayEvent[],
  { family, isWeighted }: Asked,
): Standings {
  const members = pool.object.spec.members.map((member) => ({
    isCounted: family.has(member),
    isEnabled: member.enabled,
    weight: member.weight,
    windows: 0,
  }))
  type Counted = (typeof members)[number]
  const isReady = ({ isEnabled, windows }: Counted): boolean => isEnabled && windows === 0
  const isIn = (member: Counted): boolean =>
    isReady(member) && member.isCounted && (member.weight > 0 || !isWeighted)
  let left = members.filter(isIn).length
  let ready = members.filter(isReady).length
  let poolWindows = 0
  const start = { left, ready, isOut: false }
  const later = events.flatMap((event, i) => {
    const { change, member: position, atMs } = event
    const isWindow = change === 'out' || change === 'back'
    const step = change === 'out' ? 1 : -1
    if (isWindow && position < 0) poolWindows += step
    else {
      const member = members[position]!
      const [was, wasReady] = [isIn(member), isReady(member)]
      if (isWindow) member.windows += step
      else member.weight = change.weight
      left += Number(isIn(member)) - Number(was)
      ready += Number(isReady(member)) - Number(wasReady)
    }
    const isLastOfInstant = events[i + 1]?.atMs !== atMs
    return isLastOfInstant ? [{ left, ready, isOut: poolWindows > 0, event }] : []
  })
  return { start, later }
}

const dayMs = 86_400_000
const horizonMs = 14 * dayMs

/** Notes windows and rollouts of the coming days that leave a pool with one member. */
export const thinWindows: TreeRule = ({ tree, overlays, nowMs }, report) => {
  if (nowMs === null || overlays.rollouts.length + overlays.windows.length === 0) return
  const events = eventsByPool(overlays)
  for (const demand of demandsOn(tree, (pool) => events.has(pool))) {
    const { pool, fallback } = demand
    const own = events.get(pool)
    if (own === undefined || fallback !== undefined) continue
    const asked = { family: neededFamilyOf(pool), isWeighted: demand.isWeighted }
    const thin = thinTimes(standingsOf(pool, own, asked)).find(
      ({ fromMs, untilMs }) =>
        // A state that began in the past and never ends is the normal one.
        (untilMs === Infinity ? fromMs >= nowMs : untilMs > nowMs) && fromMs < nowMs + horizonMs,
    )
    if (thin === undefined) continue
    const args = [timesText(thin), pool.object.metadata.name, demandLabel(demand)]
    report('window-leaves-one', placeOf(thin.event), { args })
  }
}

interface ThinTime {
  readonly fromMs: number
  /** Infinity: it does not end. */
  readonly untilMs: number
  /** The event that begins it. */
  readonly event: OverlayEvent
}

/** Finds the times when a single one of several members is left for a service. */
function thinTimes({ start, later }: Standings): readonly ThinTime[] {
  const times: ThinTime[] = []
  let begun: OverlayEvent | undefined = undefined as OverlayEvent | undefined
  if (start.left < 2) return []
  for (const { left, isOut, event } of later) {
    if (left === 1 && !isOut) begun ??= event
    else if (begun !== undefined) {
      times.push({ fromMs: begun.atMs, untilMs: event.atMs, event: begun })
      begun = undefined
    }
  }
  if (begun !== undefined) times.push({ fromMs: begun.atMs, untilMs: Infinity, event: begun })
  return times
}

const weekdays = [
  ...['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
] as const

/** `on Saturday 2026-11-28 from 02:00 to 04:00 UTC` */
function timesText({ fromMs, untilMs }: ThinTime): string {
  const day = (atMs: number): string =>
    `${weekdays[new Date(atMs).getUTCDay()]} ${new Date(atMs).toISOString().slice(0, 10)}`
  const minute = (atMs: number): string => new Date(atMs).toISOString().slice(11, 16)
  if (untilMs === Infinity) return `from ${day(fromMs)} ${minute(fromMs)} UTC on`
  if (day(fromMs) === day(untilMs)) {
    return `on ${day(fromMs)} from ${minute(fromMs)} to ${minute(untilMs)} UTC`
  }
  return `from ${day(fromMs)} ${minute(fromMs)} to ${day(untilMs)} ${minute(untilMs)} UTC`
}

/** The begin or end of an overlay. */
interface OverlayEvent {
  readonly atMs: number
  readonly entry: PlacedFile
  /** -1: all members. */
  readonly member: number
  /** A window opens or closes, or the member gets another weight. */
  readonly change: 'out' | 'back' | { readonly weight: number }
}

/** In order of time; events of one instant are adjacent. */
function eventsByPool({ rollouts, windows }: OverlayPlan): Map<Entry<'Pool'>, OverlayEvent[]> {
  const events = new Map<Entry<'Pool'>, OverlayEvent[]>()
  const add = (pool: Entry<'Pool'>, event: OverlayEvent): void => {
    getOrInsert(events, pool, () => []).push(event)
  }
  for (const { entry, poolEntry, model } of rollouts) {
    if (model === undefined) continue
    for (const { atMs, moment } of rolloutTimeline(model)) {
      if (moment.weight === null) continue
      add(poolEntry!, { atMs, entry, member: model.member, change: { weight: moment.weight } })
    }
  }
  for (const { entry, poolEntry, model, held } of windows) {
    if (model === undefined) continue
    const { startAtMs, endAtMs } = model
    for (const member of held ?? [model.member]) {
      add(poolEntry!, { atMs: startAtMs, entry, member, change: 'out' })
      add(poolEntry!, { atMs: endAtMs, entry, member, change: 'back' })
    }
  }
  for (const list of events.values()) list.sort((a, b) => a.atMs - b.atMs)
  return events
}
