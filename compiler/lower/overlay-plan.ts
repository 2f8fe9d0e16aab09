// Resolves the targets and times of rollouts and windows, for the rules and for the bundle.
import type { RolloutModel, WindowModel } from '#bundle/format/model.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { TargetIndex } from './target-index.ts'
import type { TargetFault } from './target-index.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'

export type OverlayKind = 'Rollout' | 'MaintenanceWindow'

export interface Planned<K extends OverlayKind, Model> {
  readonly entry: Entry<K>
  /** Undefined when the pool is unknown or could not be read. */
  readonly poolEntry: Entry<'Pool'> | undefined
  /** Without the position of its pool. Undefined when a time or the target is invalid. */
  readonly model: Model | undefined
  readonly fault: TargetFault | undefined
}
export type PlannedRollout = Planned<'Rollout', Omit<RolloutModel, 'pool'>>
export interface PlannedWindow extends Planned<'MaintenanceWindow', Omit<WindowModel, 'pool'>> {
  /** Positions of the members that the file lists as held out; null: the file lists none. */
  readonly held: readonly number[] | null
}

export interface OverlayPlan {
  /** Unsettled rollouts only: settled ones have no effect. */
  readonly rollouts: readonly PlannedRollout[]
  readonly windows: readonly PlannedWindow[]
}

export function planOverlays(tree: Tree): OverlayPlan {
  const index = new TargetIndex(tree)
  const active = tree.of.Rollout.filter(({ object }) => object.spec.settled === undefined)
  return {
    rollouts: active.map((entry) => planRollout(entry, index)),
    windows: tree.of.MaintenanceWindow.map((entry) => planWindow(entry, index)),
  }
}

function planRollout(entry: Entry<'Rollout'>, index: TargetIndex): PlannedRollout {
  const { spec, metadata } = entry.object
  const poolPlace = valueAt('spec', 'pool')
  const pool = index.pool(entry.tenant, spec.pool, poolPlace)
  if (!pool.ok) return { entry, poolEntry: undefined, model: undefined, fault: pool.fault }
  const poolEntry = pool.entry
  // An object rule checks that one of the two is given.
  const field = spec.member === undefined ? 'memberId' : 'member'
  const named = spec.member ?? spec.memberId ?? ''
  const member = index.member(poolEntry, named, valueAt('spec', field))
  if (!member.ok) return { entry, poolEntry, model: undefined, fault: member.fault }
  const startAt = readInstant(spec.startAt)
  const intents = spec.intents.map(({ intent, at }) => ({
    intent,
    atMs: readInstant(at).atMs ?? -1,
  }))
  const hasTimes = startAt.atMs !== undefined && intents.every(({ atMs }) => atMs >= 0)
  if (!hasTimes) return { entry, poolEntry, model: undefined, fault: undefined }
  const policy = spec.regressionPolicy
  const model = {
    uid: entry.uid,
    name: metadata.name,
    tenant: entry.tenant,
    member: member.position,
    baseWeight: spec.baseWeight ?? poolEntry.object.spec.members[member.position]!.weight,
    startAtMs: startAt.atMs,
    steps: spec.steps.map(({ weightPct, holdSeconds }) => ({ weightPct, holdSeconds })),
    regressionPolicy: {
      minHealthScore: policy?.minHealthScore ?? 0,
      minHealthyMembers: policy?.minHealthyMembers ?? 0,
      maxRttDeltaMs: policy?.maxRttDeltaMs ?? 0,
    },
    intents: intents.toSorted((a, b) => a.atMs - b.atMs),
  }
  return { entry, poolEntry, model, fault: undefined }
}

function planWindow(entry: Entry<'MaintenanceWindow'>, index: TargetIndex): PlannedWindow {
  const { spec, metadata } = entry.object
  const place = valueAt('spec', 'resource')
  const target = index.resource(entry.tenant, spec.resourceType, spec.resource, place)
  const none = { entry, model: undefined, held: null }
  if (!target.ok) return { ...none, poolEntry: target.pool, fault: target.fault }
  const startAtMs = readInstant(spec.startAt).atMs
  const endAtMs = readInstant(spec.endAt).atMs
  const isOrdered = startAtMs !== undefined && endAtMs !== undefined && startAtMs < endAtMs
  const poolEntry = target.entry
  if (!isOrdered) return { ...none, poolEntry, fault: undefined }
  const members = spec.members?.map((uid) => uid.toLowerCase()) ?? null
  const model = {
    uid: entry.uid,
    name: metadata.name,
    tenant: entry.tenant,
    member: target.position,
    members,
    startAtMs,
    endAtMs,
  }
  const held = members === null ? null : index.placesOf(poolEntry, members)
  return { entry, poolEntry, model, held, fault: undefined }
}
