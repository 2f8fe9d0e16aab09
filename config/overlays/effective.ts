// Computes effective member values at an instant from declared members, rollouts and windows, by
// the same functions that the answers follow.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { windowAt } from '#routing/time/overlay.ts'
import { rolloutAt } from '#routing/time/rollout.ts'
import type { RolloutMoment, RolloutSchedule, RolloutTrip } from '#routing/time/rollout.ts'
import { isOver, scheduleOf, timesOf } from './schedule.ts'
import { targetOfRollout, targetOfWindow } from './targets.ts'
import type { MemberPart, MemberTarget, Objects, WindowTarget } from './targets.ts'

/** What makes a member differ from what is declared. */
export interface Hold {
  readonly kind: 'rollout' | 'window'
  readonly id: string
  readonly name: string
}

export interface EffectiveMember {
  readonly weight: number
  readonly enabled: boolean
  /** A window goes before a rollout: a member that is out has no use for a weight. */
  readonly heldBy: Hold | null
}

/** What the members of one snapshot are at one instant. */
export interface EffectiveView {
  readonly of: (poolUid: string, member: MemberPart) => EffectiveMember
}

/** A regression that is known and may not be in the file yet, of one attempt of a rollout. */
export type TripOf = (rolloutUid: string, startAtMs: number) => RolloutTrip | null

export interface OpenRollout extends MemberTarget {
  readonly entry: ConfigEntry<'Rollout'>
  readonly schedule: RolloutSchedule
}

export interface PlacedWindow extends WindowTarget {
  readonly entry: ConfigEntry<'MaintenanceWindow'>
  readonly startAtMs: number
  readonly endAtMs: number
  /** Lower case; null: nobody has written them down yet. */
  readonly recorded: ReadonlySet<string> | null
}

/** The rollouts and windows of one snapshot, with their targets. */
export class OverlayIndex {
  /** Rollouts that are not settled. */
  readonly rollouts: readonly OpenRollout[]
  readonly windows: readonly PlacedWindow[]
  readonly #rolloutOf: ReadonlyMap<string, OpenRollout>

  /** Made once for a snapshot, however often somebody looks. */
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

  /** Members that a rollout is for, or a window that is active; some twice. */
  *membersAt(nowMs: number): Generator<MemberTarget> {
    for (const { pool, member } of this.rollouts) yield { pool, member }
    for (const window of this.windows) {
      if (windowAt(window, nowMs).state !== 'active') continue
      for (const member of membersOfWindow(window)) yield { pool: window.pool, member }
    }
  }

  /** Members that a rollout or a window is for, also before it begins and after it has ended. */
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

  /** When the first of them will be at another moment by time alone; Infinity: none will. */
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

  /** Rollouts that are over, although their files do not say so yet. */
  overRollouts(nowMs: number, tripOf: TripOf): readonly OpenRollout[] {
    return this.rollouts.filter((rollout) => isOver(momentOf(rollout, nowMs, tripOf)))
  }

  /** Active windows whose files do not say yet which members they hold out. */
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

/** undefined: it is settled, or its member has just gone. */
export function openRollout(
  objects: Objects,
  entry: ConfigEntry<'Rollout'>,
): OpenRollout | undefined {
  if (entry.object.spec.settled !== undefined) return undefined
  const target = targetOfRollout(objects, entry)
  if (target === undefined) return undefined
  return { entry, ...target, schedule: scheduleOf(entry, target.member.weight) }
}

/** undefined: its pool or member has just gone. */
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

/** Whom a window is for: as it was written down, and until then all that are enabled. */
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
