// The JSON of a rollout: as the API shows it, and as it accepts it.
import { Type } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { rolloutAt } from '#routing/time/rollout.ts'
import type { RolloutSchedule } from '#routing/time/rollout.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import { RegressionPolicy, RolloutSpec, RolloutStep } from '#schemas/objects/rollout.ts'
import type { OverlayView, SeenRollout } from '#api/ports/overlay-view.ts'
import { body, nullable } from '#api/http/shapes.ts'
import { defaulted, plain } from './fields.ts'
import { utc } from './maintenance-window.ts'
import type { MemberPart } from './member.ts'
import { memberNamed, poolNamed } from './overlay-target.ts'

const { minHealthScore, minHealthyMembers, maxRttDeltaMs } = RegressionPolicy.properties

export const Rollout = Type.Object(
  {
    id: Type.String(),
    poolId: Type.String(),
    memberId: Type.String(),
    state: Type.Enum(['pending', 'running', 'paused', 'promoted', 'rolled_back']),
    currentStep: Type.Integer({ description: 'Position in `steps`, from 0' }),
    weight: Type.Integer({ description: 'In effect on this node' }),
    baseWeight: Type.Integer({ description: 'From before the rollout' }),
    reason: Type.String({ description: 'Why it is held or over' }),
    baselineRttMs: nullable(Type.Number()),
    startAt: Type.String({ description: 'ISO 8601, UTC' }),
    steps: Type.Array(RolloutStep),
    regressionPolicy: Type.Object({
      minHealthScore: Type.Number(),
      minHealthyMembers: Type.Integer(),
      maxRttDeltaMs: Type.Number(),
    }),
  },
  { title: 'Rollout' },
)

export const NewRollout = body({
  memberId: Type.String({ minLength: 1, maxLength: 255 }),
  steps: plain(RolloutSpec.properties.steps),
  regressionPolicy: Type.Optional(
    body({
      minHealthScore: defaulted(minHealthScore),
      minHealthyMembers: defaulted(minHealthyMembers),
      maxRttDeltaMs: defaulted(maxRttDeltaMs),
    }),
  ),
})

type Entry = ConfigEntry<'Rollout'>

export interface RolloutTarget {
  readonly pool: ConfigEntry<'Pool'>
  readonly member: MemberPart
}

/** undefined: its pool or member has just gone. */
export function targetOfRollout(snapshot: ConfigSnapshot, entry: Entry): RolloutTarget | undefined {
  const { pool: poolName, member: text, memberId } = entry.object.spec
  const pool = poolNamed(snapshot, entry.tenant, poolName)
  const member = pool && memberNamed(pool, text ?? memberId ?? '')
  return pool === undefined || member === undefined ? undefined : { pool, member }
}

/** Where it is: as this node sees it, or by file and clock alone. */
export function momentOf(
  overlays: OverlayView,
  entry: Entry,
  declaredWeight: number,
  nowMs: number,
): SeenRollout {
  const { spec } = entry.object
  const schedule = scheduleOf(entry, declaredWeight)
  const { settled } = spec
  if (settled !== undefined) {
    const stepIndex = spec.steps.length - 1
    const settledMoment = { state: settled, stepIndex, weight: declaredWeight, reason: 'settled' }
    return { ...settledMoment, baselineRttMs: null }
  }
  const computed = rolloutAt(schedule, nowMs)
  const moment = { ...computed, weight: computed.weight ?? declaredWeight, baselineRttMs: null }
  const seen = overlays.rollout(entry.uid)
  if (seen === undefined) return moment
  // What a node has taken back is over, whatever the clock says.
  const isTripped = seen.state === 'rolled_back'
  return isTripped ? seen : { ...moment, baselineRttMs: seen.baselineRttMs }
}

function scheduleOf({ object: { spec } }: Entry, declaredWeight: number): RolloutSchedule {
  return {
    baseWeight: spec.baseWeight ?? declaredWeight,
    startAtMs: readInstant(spec.startAt).atMs ?? 0,
    steps: spec.steps.map(({ weightPct, holdSeconds }) => ({ weightPct, holdSeconds })),
    intents: spec.intents.map(({ intent, at }) => ({ intent, atMs: readInstant(at).atMs ?? 0 })),
  }
}

export function showRollout(
  snapshot: ConfigSnapshot,
  overlays: OverlayView,
  entry: Entry,
  nowMs: number,
) {
  const { spec } = entry.object
  const target = targetOfRollout(snapshot, entry)
  const declared = target?.member.weight ?? 0
  const { state, stepIndex, weight, reason, baselineRttMs } = momentOf(
    overlays,
    entry,
    declared,
    nowMs,
  )
  return {
    id: entry.uid,
    poolId: target?.pool.uid ?? '',
    memberId: target?.member.uid ?? spec.memberId ?? '',
    state,
    currentStep: stepIndex,
    weight,
    baseWeight: spec.baseWeight ?? declared,
    reason,
    baselineRttMs,
    startAt: utc(spec.startAt),
    steps: spec.steps,
    regressionPolicy: {
      minHealthScore: 0,
      minHealthyMembers: 0,
      maxRttDeltaMs: 0,
      ...spec.regressionPolicy,
    },
  }
}
