// Defines the JSON of a rollout, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { RegressionPolicy, RolloutSpec, RolloutStep } from '#schemas/objects/rollout.ts'
import { rolloutMoment } from '#config/overlays/schedule.ts'
import { targetOfRollout } from '#config/overlays/targets.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import { closed, nullable } from '#http/shapes.ts'
import { defaulted, plain } from './fields.ts'
import { utc } from './maintenance-window.ts'

const { minHealthScore, minHealthyMembers, maxRttDeltaMs } = RegressionPolicy.properties

export const Rollout = Type.Object(
  {
    id: Type.String(),
    poolId: Type.String(),
    memberId: Type.String(),
    state: Type.Enum(['pending', 'running', 'paused', 'promoted', 'rolled_back']),
    currentStep: Type.Integer({ description: 'Position in `steps`, from 0' }),
    weight: Type.Integer({ description: 'In effect now; of one that is over, what it left' }),
    baseWeight: Type.Integer({ description: 'From before the rollout' }),
    reason: Type.String({ description: 'Why it is held or over' }),
    baselineRttMs: nullable(Type.Number()),
    startAt: Type.String({ description: 'ISO 8601, UTC' }),
    settledAt: nullable(
      Type.String({ description: 'When its end was written down; null: not yet' }),
    ),
    steps: Type.Array(RolloutStep),
    regressionPolicy: Type.Object({
      minHealthScore: Type.Number(),
      minHealthyMembers: Type.Integer(),
      maxRttDeltaMs: Type.Number(),
    }),
  },
  { title: 'Rollout' },
)

export const NewRollout = closed({
  memberId: Type.String({ minLength: 1, maxLength: 255 }),
  steps: plain(RolloutSpec.properties.steps),
  regressionPolicy: Type.Optional(
    closed({
      minHealthScore: defaulted(minHealthScore),
      minHealthyMembers: defaulted(minHealthyMembers),
      maxRttDeltaMs: defaulted(maxRttDeltaMs),
    }),
  ),
})

type Entry = ConfigEntry<'Rollout'>

export function showRollout(
  snapshot: ConfigSnapshot,
  overlays: OverlayView,
  entry: Entry,
  nowMs: number,
) {
  const { spec } = entry.object
  const target = targetOfRollout(snapshot, entry)
  const declared = target?.member.weight ?? 0
  const moment = rolloutMoment(entry, declared, nowMs, overlays.trip)
  return {
    id: entry.uid,
    poolId: target?.pool.uid ?? '',
    memberId: target?.member.uid ?? spec.memberId ?? '',
    state: moment.state,
    currentStep: moment.stepIndex,
    weight: moment.weight ?? declared,
    baseWeight: spec.baseWeight ?? declared,
    reason: moment.reason,
    baselineRttMs: overlays.baselineRttMs(entry.uid),
    startAt: utc(spec.startAt),
    settledAt: spec.settledAt === undefined ? null : utc(spec.settledAt),
    steps: spec.steps,
    regressionPolicy: {
      minHealthScore: 0,
      minHealthyMembers: 0,
      maxRttDeltaMs: 0,
      ...spec.regressionPolicy,
    },
  }
}
