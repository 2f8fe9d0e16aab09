// Checks the times and steps of rollouts and maintenance windows.
import { checkInstant } from '#compiler/values/instants.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { allowedIntents, rolloutAt } from '#routing/time/rollout.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import type { RolloutSpec } from '#schemas/objects/rollout.ts'
import type { ObjectRule } from './object-rule.ts'

const longDays = 90
const daySeconds = 86_400

/** Finds steps and intents of a rollout without the effect that they suggest. */
export const rolloutSense: ObjectRule<'Rollout'> = ({ spec }, report) => {
  if (spec.member === undefined && spec.memberId === undefined) {
    report('rollout-target', valueAt('spec'), { args: ['no member'] })
  } else if (spec.member !== undefined && spec.memberId !== undefined) {
    report('rollout-target', valueAt('spec', 'memberId'), { args: ['a member twice'] })
  }
  const isTimed = checkInstant(spec.startAt, valueAt('spec', 'startAt'), report)
  let areTimed = isTimed
  for (const [i, { at }] of spec.intents.entries()) {
    areTimed = checkInstant(at, valueAt('spec', 'intents', i, 'at'), report) && areTimed
  }
  if (spec.settledAt !== undefined) {
    checkInstant(spec.settledAt, valueAt('spec', 'settledAt'), report)
  }
  // A settled rollout is only a record.
  if (spec.settled !== undefined) return
  checkSteps(spec, report)
  if (areTimed) checkIntents(spec, report)
}

function checkSteps({ steps }: RolloutSpec, report: Report): void {
  const last = steps.length - 1
  const held = steps.findIndex(({ holdSeconds }) => holdSeconds === 0)
  const seconds = steps.reduce((sum, { holdSeconds }) => sum + holdSeconds, 0)
  if (held >= 0 && held < last - 1) {
    const args = [String(held + 2), String(held + 1)]
    report('rollout-step-skipped', valueAt('spec', 'steps', held + 1), { args })
  }
  if (held < 0) {
    const place = valueAt('spec', 'steps', last, 'holdSeconds')
    report('rollout-promotes-itself', place, { args: [String(steps[last]!.holdSeconds)] })
  }
  if (seconds > longDays * daySeconds) {
    const args = [String(Math.floor(seconds / daySeconds))]
    report('rollout-long', valueAt('spec', 'steps'), { args })
  }
}

function checkIntents({ startAt, steps, intents }: RolloutSpec, report: Report): void {
  const timed = intents.map(({ intent, at }, line) => ({
    intent,
    atMs: readInstant(at).atMs ?? 0,
    line,
  }))
  for (const { atMs, line } of timed.slice(1)) {
    if (atMs < timed[line - 1]!.atMs) {
      report('rollout-intents-unordered', valueAt('spec', 'intents', line, 'at'))
    }
  }
  const startAtMs = readInstant(startAt).atMs ?? 0
  const sorted = timed.toSorted((a, b) => a.atMs - b.atMs)
  for (const [i, { intent, atMs, line }] of sorted.entries()) {
    const before = { baseWeight: 0, startAtMs, steps, intents: sorted.slice(0, i) }
    const { state } = rolloutAt(before, atMs)
    if (allowedIntents[state].includes(intent)) continue
    const args = [intent, state.replace('_', ' ')]
    report('rollout-intent-void', valueAt('spec', 'intents', line, 'intent'), { args })
  }
}

/** Checks that a maintenance window ends after it begins. */
export const windowSense: ObjectRule<'MaintenanceWindow'> = (
  { spec: { startAt, endAt } },
  report,
) => {
  const place = valueAt('spec', 'endAt')
  const isStart = checkInstant(startAt, valueAt('spec', 'startAt'), report)
  if (!checkInstant(endAt, place, report) || !isStart) return
  const isReversed = readInstant(endAt).atMs! <= readInstant(startAt).atMs!
  if (isReversed) report('window-reversed', place, { args: [endAt] })
}
