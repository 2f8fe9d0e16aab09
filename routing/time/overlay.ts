// Applies rollouts and maintenance windows to the declared members at an instant.
// `effective(member, t) = declared ⊕ rollout at t ⊕ windows at t`.
import type { Bundle } from '#bundle/format/bundle.ts'
import { hostnameOfSlot, isDiscovered, isResolved, rowsOfMember } from '#bundle/format/hostnames.ts'
import type { MaintenanceWindow, Overlays, Rollout } from '#bundle/format/overlays.ts'
import { membersOf } from '#routing/state/candidates.ts'
import { rolloutAt } from './rollout.ts'
import type { RolloutMoment, RolloutTrip } from './rollout.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'

export type WindowState = 'scheduled' | 'active' | 'completed'

export interface WindowMoment {
  readonly state: WindowState
  /** Instant of the next change of state; Infinity: none. */
  readonly nextEventAtMs: number
}

/**
 * Computes the state of a window at an instant. The start belongs to the window, the end does not.
 */
export function windowAt(
  { startAtMs, endAtMs }: Pick<MaintenanceWindow, 'startAtMs' | 'endAtMs'>,
  nowMs: number,
): WindowMoment {
  if (nowMs < startAtMs) return { state: 'scheduled', nextEventAtMs: startAtMs }
  return nowMs < endAtMs
    ? { state: 'active', nextEventAtMs: endAtMs }
    : { state: 'completed', nextEventAtMs: Infinity }
}

/** Trips that this node has seen, by `tripKey`. */
type RolloutTrips = ReadonlyMap<string, RolloutTrip>

/**
 * Returns the key of a rollout's trip. A rollout with another start is another attempt, so it has
 * another key.
 */
export function tripKey({ uid, startAtMs }: Pick<Rollout, 'uid' | 'startAtMs'>): string {
  return `${uid}@${startAtMs}`
}

export interface OverlayMoment {
  readonly rollouts: readonly { readonly rollout: Rollout; readonly moment: RolloutMoment }[]
  readonly windows: readonly { readonly window: MaintenanceWindow; readonly moment: WindowMoment }[]
  /** Instant of the earliest change among them; Infinity: none. */
  readonly nextEventAtMs: number
}

export function overlaysAt(overlays: Overlays, nowMs: number, trips: RolloutTrips): OverlayMoment {
  const rollouts = overlays.rollouts.map((rollout) => ({
    rollout,
    moment: rolloutAt(rollout, nowMs, trips.get(tripKey(rollout)) ?? null),
  }))
  const windows = overlays.windows.map((window) => ({ window, moment: windowAt(window, nowMs) }))
  let nextEventAtMs = Infinity
  for (const { moment } of rollouts) nextEventAtMs = Math.min(nextEventAtMs, moment.nextEventAtMs)
  for (const { moment } of windows) nextEventAtMs = Math.min(nextEventAtMs, moment.nextEventAtMs)
  return { rollouts, windows, nextEventAtMs }
}

/** Changes that the overlays made to a state, kept so that the next call can undo them. */
export interface AppliedOverlays {
  readonly members: ReadonlySet<number>
  /**
   * Pools whose lists of candidates must be rebuilt, because a weight or bit of a member changed.
   */
  readonly staleLists: ReadonlySet<number>
}

export const nothingApplied: AppliedOverlays = Object.freeze({
  members: new Set<number>(),
  staleLists: new Set<number>(),
})

/**
 * Sets the weight and the maintenance bit of each member that an overlay touches now or touched
 * before; other members are left alone.
 * @param before result of the last call for this state; default: no call yet
 */
export function applyOverlays(
  bundle: Bundle,
  state: RoutingState,
  { rollouts, windows }: OverlayMoment,
  before: AppliedOverlays = nothingApplied,
): AppliedOverlays {
  const weights = new Map<number, number>()
  for (const { rollout, moment } of rollouts) {
    if (moment.weight === null) continue
    for (const row of rowsOfMember(bundle, rollout.member)) weights.set(row, moment.weight)
  }
  const out = new Set<number>()
  const emptied = new Set<number>()
  for (const { window, moment } of windows) {
    // A pool that one window empties needs no look at its other windows.
    if (moment.state !== 'active' || emptied.has(window.pool)) continue
    if (window.member < 0 && window.held === null) emptied.add(window.pool)
    for (const member of membersOfWindow(bundle, window)) out.add(member)
  }
  const members = new Set([...weights.keys(), ...out])
  const staleLists = new Set<number>()
  for (const member of new Set([...before.members, ...members])) {
    const weight = weights.get(member) ?? plainWeight(bundle, state, member)
    const others = state.memberOut[member]! & ~MemberOut.Maintenance
    const bits = others | (out.has(member) ? MemberOut.Maintenance : 0)
    if (state.memberWeight[member] === weight && state.memberOut[member] === bits) continue
    state.memberWeight[member] = weight
    state.memberOut[member] = bits
    staleLists.add(bundle.memberPool[member]!)
  }
  return { members, staleLists }
}

/** Without a rollout; a discovered address keeps its own, and no rollout is of it. */
function plainWeight(bundle: Bundle, state: RoutingState, member: number): number {
  const isOwn =
    bundle.hasHostnames &&
    isResolved(bundle, member) &&
    isDiscovered(bundle, hostnameOfSlot(bundle, member))
  return (isOwn ? state.memberWeight : bundle.memberWeight)[member]!
}

/** Returns the members that a window holds out while it is active. */
function membersOfWindow(
  bundle: Bundle,
  { pool, member, held }: Pick<MaintenanceWindow, 'pool' | 'member' | 'held'>,
): Iterable<number> {
  if (held !== null) return held
  return member < 0 ? membersOf(bundle, pool) : rowsOfMember(bundle, member)
}
