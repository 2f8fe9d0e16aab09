// Computes where a declared rollout or window is at an instant, from its file and the clock.
import type { ConfigEntry } from '#config/entry.ts'
import { rolloutAt, stepWeight } from '#routing/time/rollout.ts'
import type { RolloutMoment, RolloutSchedule, RolloutTrip } from '#routing/time/rollout.ts'
import { readInstant } from '#schemas/forms/instant.ts'

type Rollout = ConfigEntry<'Rollout'>
type Window = ConfigEntry<'MaintenanceWindow'>

export function scheduleOf({ object: { spec } }: Rollout, declaredWeight: number): RolloutSchedule {
  return {
    baseWeight: spec.baseWeight ?? declaredWeight,
    startAtMs: msOf(spec.startAt),
    steps: spec.steps.map(({ weightPct, holdSeconds }) => ({ weightPct, holdSeconds })),
    intents: spec.intents
      .map(({ intent, at }) => ({ intent, atMs: msOf(at) }))
      .sort((a, b) => a.atMs - b.atMs),
  }
}

/** @param tripOf finds a regression that is not in the file yet */
export function rolloutMoment(
  entry: Rollout,
  declaredWeight: number,
  nowMs: number,
  tripOf: (rolloutUid: string, startAtMs: number) => RolloutTrip | null,
): RolloutMoment {
  const { settled } = entry.object.spec
  const schedule = scheduleOf(entry, declaredWeight)
  return settled === undefined
    ? rolloutAt(schedule, nowMs, tripOf(entry.uid, schedule.startAtMs))
    : settledMoment(entry, schedule, settled)
}

/** Returns how a rollout ended: from its record, and from its steps where the record lacks it. */
function settledMoment(
  { object: { spec } }: Rollout,
  schedule: RolloutSchedule,
  settled: 'promoted' | 'rolled_back',
): RolloutMoment {
  const { reason = 'settled', settledAt, steps } = spec
  const last = steps.length - 1
  const ended = settledAt === undefined ? undefined : rolloutAt(schedule, msOf(settledAt))
  const isLast = settled === 'promoted' || ended === undefined
  const { baseWeight } = schedule
  const weight = settled === 'promoted' ? stepWeight(baseWeight, steps[last]!) : baseWeight
  const stepIndex = isLast ? last : ended.stepIndex
  return { state: settled, stepIndex, weight, reason, nextEventAtMs: Infinity }
}

export function timesOf({ object: { spec } }: Window): {
  readonly startAtMs: number
  readonly endAtMs: number
} {
  return { startAtMs: msOf(spec.startAt), endAtMs: msOf(spec.endAt) }
}

export function isOver({ state }: Pick<RolloutMoment, 'state'>): boolean {
  return state === 'promoted' || state === 'rolled_back'
}

function msOf(instant: string): number {
  return readInstant(instant).atMs ?? 0
}
