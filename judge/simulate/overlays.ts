// Shows the effect of rollouts and maintenance windows at the simulated time.
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import type { MaintenanceWindow, Rollout } from '#bundle/format/overlays.ts'
import { instantText } from '#compiler/values/instants.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { applyOverlays, overlaysAt } from '#routing/time/overlay.ts'
import type { OverlayMoment, WindowMoment } from '#routing/time/overlay.ts'
import type { RolloutMoment } from '#routing/time/rollout.ts'
import type { RoutingState } from '#routing/state/state.ts'

export interface SimulatedOverlay {
  readonly kind: 'Rollout' | 'MaintenanceWindow'
  readonly name: string
  readonly tenant: string
  readonly pool: string
  readonly state: string
  /** Effect of the overlay at that time, and its members, as a clause. */
  readonly effect: string
  /** RFC 3339; null: no event of time follows. */
  readonly nextEventAt: string | null
}

/**
 * Applies rollouts and maintenance windows of an instant to a state. Regressions are seen by nodes:
 * here there are none.
 *
 * @returns null when the configuration has neither rollouts nor windows
 */
export function showOverlays(
  bundle: Bundle,
  state: RoutingState,
  nowMs: number,
): readonly SimulatedOverlay[] | null {
  const overlays = overlaysOf(bundle)
  if (overlays.rollouts.length + overlays.windows.length === 0) return null
  const moment = overlaysAt(overlays, nowMs, new Map())
  for (const pool of applyOverlays(bundle, state, moment).staleLists) {
    rebuildPool(bundle, state, pool)
  }
  return described(bundle, moment)
}

/** Describes what they do now; no state is changed. */
export function overlaysNow(bundle: Bundle, nowMs: number): readonly SimulatedOverlay[] {
  return described(bundle, overlaysAt(overlaysOf(bundle), nowMs, new Map()))
}

function described(bundle: Bundle, { rollouts, windows }: OverlayMoment): SimulatedOverlay[] {
  const common = ({ name, tenant, pool }: Rollout | MaintenanceWindow, nextEventAtMs: number) => ({
    name,
    tenant,
    pool: textOf(bundle, bundle.poolName[pool]!),
    nextEventAt: nextEventAtMs === Infinity ? null : instantText(nextEventAtMs),
  })
  return [
    ...rollouts.map(({ rollout, moment }) => ({
      kind: 'Rollout' as const,
      ...common(rollout, moment.nextEventAtMs),
      state: moment.state,
      effect: effectOfRollout(bundle, rollout, moment),
    })),
    ...windows.map(({ window, moment }) => ({
      kind: 'MaintenanceWindow' as const,
      ...common(window, moment.nextEventAtMs),
      state: moment.state,
      effect: effectOfWindow(bundle, window, moment),
    })),
  ]
}

function effectOfRollout(
  bundle: Bundle,
  { member, steps }: Rollout,
  { stepIndex, weight }: RolloutMoment,
): string {
  const address = addressOfMember(bundle, member)
  const declared = bundle.memberWeight[member]!
  if (weight === null) return `${address} keeps its weight ${declared}`
  const change = weight === declared ? 'as declared' : `declared ${declared}`
  return `step ${stepIndex + 1} of ${steps.length}, ${address} weighs ${weight} (${change})`
}

function effectOfWindow(
  bundle: Bundle,
  { pool, member, held }: MaintenanceWindow,
  { state }: WindowMoment,
): string {
  const name = textOf(bundle, bundle.poolName[pool]!)
  const all = held === null ? `each member of ${name}` : `what ${name} had enabled at its start`
  const who = member < 0 ? all : addressOfMember(bundle, member)
  return state === 'active' ? `${who} is out` : `${who} is not held out`
}
