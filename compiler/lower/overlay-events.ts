// What rollouts and windows do to the members of each pool, in the order of time.
import { rolloutTimeline } from '#routing/time/rollout.ts'
import type { Entry, PlacedFile } from '#compiler/tree/tree.ts'
import type { OverlayPlan } from './overlay-plan.ts'

/** Something that begins or ends. */
export interface OverlayEvent {
  readonly atMs: number
  readonly entry: PlacedFile
  /** -1: every member. */
  readonly member: number
  /** A window opens or closes, or the member gets another weight. */
  readonly change: 'out' | 'back' | { readonly weight: number }
}

/** In the order of time; what happens at one instant is next to each other. */
export function eventsByPool({
  rollouts,
  windows,
}: OverlayPlan): Map<Entry<'Pool'>, OverlayEvent[]> {
  const events = new Map<Entry<'Pool'>, OverlayEvent[]>()
  const add = (pool: Entry<'Pool'>, event: OverlayEvent): void => {
    const list = events.get(pool)
    if (list === undefined) events.set(pool, [event])
    else list.push(event)
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
