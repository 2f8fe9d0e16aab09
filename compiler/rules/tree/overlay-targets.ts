// Checks the targets of rollouts and windows: they exist, and no two overlays conflict.
import type { PlannedRollout, PlannedWindow } from '#compiler/lower/overlay-plan.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { TreeReport } from '#compiler/tree/tree.ts'
import { instantText } from '#compiler/values/instants.ts'
import { isDiscoveredMember } from '#compiler/values/member-target.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { allowedIntents, rolloutAt } from '#routing/time/rollout.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import type { TreeRule } from './tree-rule.ts'

export const overlayTargets: TreeRule = ({ overlays, nowMs }, report) => {
  const { rollouts, windows } = overlays
  for (const { entry, fault } of [...rollouts, ...windows]) {
    if (fault === undefined) continue
    const { code, place, args, suggestion } = fault
    report(code, placeIn(entry, place), { args, suggestion })
  }
  checkRollouts(rollouts, report)
  checkOverlaps(windows, report)
  if (nowMs === null) return
  for (const planned of rollouts) checkOver(planned, nowMs, report)
  for (const { entry, model } of windows) {
    if (model === undefined || model.endAtMs > nowMs) continue
    const at = valueIn(entry, 'spec', 'endAt')
    report('window-past', at, { args: [instantText(model.endAtMs)] })
  }
}

/** Notes finished rollouts that still set the weight: the pool's weight has no effect. */
function checkOver({ entry, model }: PlannedRollout, nowMs: number, report: TreeReport): void {
  if (model === undefined) return
  const { state, weight } = rolloutAt(model, nowMs)
  if (weight === null || allowedIntents[state].length > 0) return
  const at = valueIn(entry, 'spec', 'startAt')
  report('rollout-over', at, { args: [state.replace('_', ' '), String(weight), state] })
}

function checkRollouts(rollouts: readonly PlannedRollout[], report: TreeReport): void {
  const firstOf = new Map<string, PlannedRollout>()
  for (const planned of rollouts) {
    const { entry, poolEntry, model } = planned
    if (model === undefined) continue
    const { member, memberId } = entry.object.spec
    if (isDiscoveredMember(poolEntry!.object.spec.members[model.member]!)) {
      const args = [member ?? memberId ?? '']
      report('rollout-member-discovered', placeIn(entry, targetOf(planned)), { args })
    }
    const first = earlier(firstOf, `${poolEntry!.path}/${model.member}`, planned)
    if (first === undefined) continue
    const args = [member ?? memberId ?? '', poolEntry!.object.metadata.name]
    const other = placeIn(first.entry, targetOf(first))
    report('rollout-member-taken', placeIn(entry, targetOf(planned)), { args, other })
  }
}

const targetOf = ({ entry }: PlannedRollout) =>
  valueAt('spec', entry.object.spec.member === undefined ? 'memberId' : 'member')

/** A window over a pool overlaps one over its member: both affect that member. */
function checkOverlaps(windows: readonly PlannedWindow[], report: TreeReport): void {
  const sorted = windows
    .filter(({ model }) => model !== undefined)
    .toSorted((a, b) => a.model!.startAtMs - b.model!.startAtMs)
  /** By pool and member: the window with the latest end so far. */
  const latest = new Map<string, PlannedWindow>()
  for (const planned of sorted) {
    const { member, startAtMs, endAtMs } = planned.model!
    const pool = planned.poolEntry!.path
    const key = `${pool}/${member}`
    // A window over a pool conflicts with one over any member: `any` has the one with the latest
    // end.
    const rivals = [key, member < 0 ? `${pool}/any` : `${pool}/-1`]
    const rival = rivals
      .map((one) => latest.get(one))
      .find((one) => one !== undefined && one.model!.endAtMs > startAtMs)
    if (rival !== undefined) {
      const what = member < 0 || rival.model!.member < 0 ? 'pool' : 'member'
      const args = [what, instantText(rival.model!.endAtMs)]
      const place = valueAt('spec', 'startAt')
      const other = valueIn(rival.entry, 'spec', 'resource')
      report('windows-overlap', placeIn(planned.entry, place), { args, other })
    }
    for (const one of member < 0 ? [key] : [key, `${pool}/any`]) {
      if ((latest.get(one)?.model!.endAtMs ?? 0) < endAtMs) latest.set(one, planned)
    }
  }
}
