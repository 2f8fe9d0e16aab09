// Computes effective member values at an instant from declared members, rollouts and windows, with
// the functions that the answers use.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { windowAt } from '#routing/time/overlay.ts'
import { rolloutAt } from '#routing/time/rollout.ts'
import type { RolloutMoment, RolloutSchedule, RolloutTrip } from '#routing/time/rollout.ts'
import { isOver, scheduleOf, timesOf } from './schedule.ts'
import { targetOfRollout, targetOfWindow } from './targets.ts'
import type { MemberPart, MemberTarget, Objects, WindowTarget } from './targets.ts'

/** The rollout or window by which a member differs from its declaration. */
interface Hold {
  readonly kind: 'rollout' | 'window'
  readonly id: string
  readonly name: string
}

export interface EffectiveMember {
  readonly weight: number
  readonly enabled: boolean
  /** A window precedes a rollout, since a member that is out has no use for a weight. */
  readonly heldBy: Hold | null
}

/** Effective values of a snapshot's members at one instant. */
export interface EffectiveView {
  readonly of: (poolUid: string, member: MemberPart) => EffectiveMember
}

/** Returns a known regression of a rollout attempt, which may not be in the file yet. */
export type TripOf = (rolloutUid: string, startAtMs: number) => RolloutTrip | null

export interface OpenRollout extends MemberTarget {
  readonly entry: ConfigEntry<'Rollout'>
  readonly schedule: RolloutSchedule
}

interface PlacedWindow extends WindowTarget {
  readonly entry: ConfigEntry<'MaintenanceWindow'>
  readonly startAtMs: number
  readonly endAtMs: number
  /** Ids of the recorded members in lower case; null: they are not recorded yet. */
  readonly recorded: ReadonlySet<string> | null
}

/** The rollouts and windows of one snapshot, with their targets. */
export class OverlayIndex {
  /** Rollouts that are not settled. */
  readonly rollouts: readonly OpenRollout[]
  readonly windows: readonly PlacedWindow[]
  readonly #rolloutOf: ReadonlyMap<string, OpenRollout>

  /** Returns the index of a snapshot, which is built once. */
  static of(snapshot: ConfigSnapshot): OverlayIndex {
    let index = known.get(snapshot)
    if (index === undefined) known.set(snapshot, (index = new OverlayIndex(snapshot)))
    return index
  }

  private constructor(snapshot: ConfigSnapshot) {
    this.rollouts = snapshot.list('Rollout').flatMap((entry) => openRollout(snapshot, entry) ?? [])
    this.windows = snapshot
      .list('MaintenanceWindow')
      .flatMap((entry) => placedWindow(snapshot, entry) ?? [])
    this.#rolloutOf = new Map(this.rollouts.map((one) => [one.member.uid, one]))
  }

  at(nowMs: number, tripOf: TripOf): EffectiveView {
    const active = this.windows.filter((window) => windowAt(window, nowMs).state === 'active')
    const activeOf = Map.groupBy(active, ({ pool }) => pool.uid)
    return {
      of: (poolUid, member) => {
        const { weight, rollout } = this.#weightOf(member, nowMs, tripOf)
        const window = activeOf.get(poolUid)?.find((one) => isFor(one, member))
        const enabled = member.enabled && window === undefined
        const holder = window ?? rollout
        const kind = window === undefined ? 'rollout' : 'window'
        return { weight, enabled, heldBy: holder === undefined ? null : holdOf(kind, holder) }
      },
    }
  }

  #weightOf(member: MemberPart, nowMs: number, tripOf: TripOf) {
    const rollout = this.#rolloutOf.get(member.uid)
    if (rollout === undefined) return { weight: member.weight }
    const { weight } = momentOf(rollout, nowMs, tripOf)
    return weight === null ? { weight: member.weight } : { weight, rollout }
  }

  /** Lists members with a rollout or an active window; some twice. */
  *membersAt(nowMs: number): Generator<MemberTarget> {
    for (const { pool, member } of this.rollouts) yield { pool, member }
    for (const window of this.windows) {
      if (windowAt(window, nowMs).state !== 'active') continue
      for (const member of membersOfWindow(window)) yield { pool: window.pool, member }
    }
  }

  /** Lists members with a rollout or a window, also before it begins and after it has ended. */
  allMembers(): readonly MemberTarget[] {
    const pools = new Set(this.windows.flatMap(({ pool, member }) => (member ? [] : [pool])))
    const single = [...this.rollouts, ...this.windows].flatMap(({ pool, member }) =>
      member === null || pools.has(pool) ? [] : [{ pool, member }],
    )
    const whole = [...pools].flatMap((pool) =>
      partsIn('Member', pool).map((member) => ({ pool, member })),
    )
    const all = [...whole, ...single]
    return [...new Map(all.map((one) => [one.member.uid, one])).values()]
  }

  /** Returns the instant of the next change by time alone; Infinity: none. */
  nextEventAtMs(nowMs: number, tripOf: TripOf): number {
    let next = Infinity
    for (const rollout of this.rollouts) {
      next = Math.min(next, momentOf(rollout, nowMs, tripOf).nextEventAtMs)
    }
    for (const window of this.windows) {
      next = Math.min(next, windowAt(window, nowMs).nextEventAtMs)
    }
    return next
  }

  /** Lists ended rollouts that are not settled in their files yet. */
  overRollouts(nowMs: number, tripOf: TripOf): readonly OpenRollout[] {
    return this.rollouts.filter((rollout) => isOver(momentOf(rollout, nowMs, tripOf)))
  }

  /** Lists active windows whose members are not recorded in their files yet. */
  unrecordedWindows(nowMs: number): readonly PlacedWindow[] {
    return this.windows.filter(
      (window) => window.recorded === null && windowAt(window, nowMs).state === 'active',
    )
  }
}

const known = new WeakMap<ConfigSnapshot, OverlayIndex>()

function momentOf({ entry, schedule }: OpenRollout, nowMs: number, tripOf: TripOf): RolloutMoment {
  return rolloutAt(schedule, nowMs, tripOf(entry.uid, schedule.startAtMs))
}

/** Returns a rollout with its target; undefined: it is settled, or its member has just gone. */
export function openRollout(
  objects: Objects,
  entry: ConfigEntry<'Rollout'>,
): OpenRollout | undefined {
  if (entry.object.spec.settled !== undefined) return undefined
  const target = targetOfRollout(objects, entry)
  if (target === undefined) return undefined
  return { entry, ...target, schedule: scheduleOf(entry, target.member.weight) }
}

/** Returns a window with its target; undefined: its pool or member has just gone. */
export function placedWindow(
  objects: Objects,
  entry: ConfigEntry<'MaintenanceWindow'>,
): PlacedWindow | undefined {
  const target = targetOfWindow(objects, entry)
  if (target === undefined) return undefined
  const { members } = entry.object.spec
  const recorded = members === undefined ? null : new Set(members.map((uid) => uid.toLowerCase()))
  return { entry, ...target, ...timesOf(entry), recorded }
}

/**
 * Lists the members of a window: the recorded ones, or all enabled ones while none are recorded.
 */
export function membersOfWindow(window: PlacedWindow): readonly MemberPart[] {
  return partsIn('Member', window.pool).filter((member) => isFor(window, member))
}

function isFor({ recorded, member }: PlacedWindow, one: MemberPart): boolean {
  if (recorded !== null) return recorded.has(one.uid)
  return one.enabled && (member === null || member.uid === one.uid)
}

function holdOf(
  kind: Hold['kind'],
  { entry: { uid: id, name } }: { readonly entry: ConfigEntry },
): Hold {
  return { kind, id, name }
}
