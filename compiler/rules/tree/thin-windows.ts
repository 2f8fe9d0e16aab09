// Notes when windows and rollouts of the coming days leave a pool with one member.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { eventsByPool } from '#compiler/lower/overlay-events.ts'
import type { OverlayEvent } from '#compiler/lower/overlay-events.ts'
import { demandLabel, neededFamilyOf, poolDemands } from '#compiler/redundancy/pool-demand.ts'
import type { AddressFamily, PoolDemand } from '#compiler/redundancy/pool-demand.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

const dayMs = 86_400_000
const horizonMs = 14 * dayMs

export const thinWindows: TreeRule = {
  name: 'thin-windows',
  check({ tree, overlays, nowMs }, report) {
    if (nowMs === null || overlays.rollouts.length + overlays.windows.length === 0) return
    const events = eventsByPool(overlays)
    for (const demand of poolDemands(tree)) {
      const { pool, fallback } = demand
      const own = events.get(pool)
      if (own === undefined || fallback !== undefined) continue
      const thin = thinTimes(demand, neededFamilyOf(pool), own).find(
        ({ fromMs, untilMs }) =>
          // What began and never ends is how things are.
          (untilMs === Infinity ? fromMs >= nowMs : untilMs > nowMs) && fromMs < nowMs + horizonMs,
      )
      if (thin === undefined) continue
      const { entry, change } = thin.event
      const place = change === 'out' ? valueAt('spec', 'startAt') : valueAt('spec', 'steps')
      const args = [timesText(thin), pool.object.metadata.name, demandLabel(demand)]
      report('window-leaves-one', placeIn(entry, place), { args })
    }
  },
}

interface ThinTime {
  readonly fromMs: number
  /** Infinity: nothing ends it. */
  readonly untilMs: number
  /** What begins it. */
  readonly event: OverlayEvent
}

/** When one member of several is left, of those that a service asks. */
function thinTimes(
  { pool, isWeighted }: PoolDemand,
  family: AddressFamily,
  events: readonly OverlayEvent[],
): readonly ThinTime[] {
  const members = pool.object.spec.members.map((member) => ({
    isCounted: member.enabled && family.has(member),
    weight: member.weight,
    windows: 0,
  }))
  type Counted = (typeof members)[number]
  const isIn = ({ isCounted, weight, windows }: Counted): boolean =>
    isCounted && windows === 0 && (weight > 0 || !isWeighted)
  let left = members.filter(isIn).length
  let poolWindows = 0
  const times: ThinTime[] = []
  let begun: OverlayEvent | undefined = undefined as OverlayEvent | undefined
  if (left < 2) return []
  for (const [i, event] of events.entries()) {
    const { change, member: position, atMs } = event
    const isWindow = change === 'out' || change === 'back'
    const step = change === 'out' ? 1 : -1
    if (isWindow && position < 0) poolWindows += step
    else {
      const member = members[position]!
      const was = isIn(member)
      if (isWindow) member.windows += step
      else member.weight = change.weight
      left += Number(isIn(member)) - Number(was)
    }
    if (events[i + 1]?.atMs === atMs) continue
    const isThin = left === 1 && poolWindows === 0
    if (isThin) begun ??= event
    else if (begun !== undefined) {
      times.push({ fromMs: begun.atMs, untilMs: atMs, event: begun })
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
