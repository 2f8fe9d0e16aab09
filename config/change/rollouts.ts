// Applies changes of rollouts to a draft: prepare, decide, settle. They run in the write queue, on
// the newest commit.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { patched } from '#config/draft.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { fault } from '#config/fault.ts'
import type { Fault } from '#config/fault.ts'
import type { BeginRollout, DecideRollout, SettleRollout } from '#config/operation.ts'
import { openRollout } from '#config/overlays/effective.ts'
import type { OpenRollout } from '#config/overlays/effective.ts'
import { isOver } from '#config/overlays/schedule.ts'
import { partSpecs } from '#config/parts.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { allowedIntents, rolloutAt } from '#routing/time/rollout.ts'
import type { RolloutMoment } from '#routing/time/rollout.ts'
import { reasonLengthMax } from '#schemas/objects/rollout.ts'
import { mayName, objectsOf, rawParts, withSpec } from './raw.ts'

type Entry = ConfigEntry<'Rollout'>
type Member = ConfigPart<'Member'>

/** Returns the spec of a new rollout, from the state of the member in the queue. */
export function specOfNewRollout(
  draft: Draft,
  { member: target, spec, atMs }: BeginRollout,
): Result<JsonObject, Fault> {
  const found = draft.part('Member', target)
  if (found === undefined) return err(fault('invalid', 'memberId: there is no such member'))
  const live = settleOver(draft, found, atMs)
  if (!live.ok) return live
  if (live.value !== null) return err(taken(live.value, 'a member has one rollout at a time'))
  const { uid } = found.part
  const baseWeight = draft.part('Member', target)?.part.weight ?? found.part.weight
  return ok({ pool: found.owner.name, memberId: uid, baseWeight, ...spec })
}

/**
 * Settles the ended rollouts of a member.
 * @returns the rollout that has not ended; null: there is none
 */
export function settleOver(
  draft: Draft,
  { owner, part }: Member,
  atMs: number,
): Result<LiveRollout | null, Fault> {
  const pool = owner as ConfigEntry<'Pool'>
  let live: LiveRollout | null = null
  for (const entry of draft.entries('Rollout')) {
    const { tenant, object } = entry
    if (object.spec.settled !== undefined || tenant !== pool.tenant) continue
    if (!mayName(object.spec.pool, pool)) continue
    const rollout = openRollout(objectsOf(draft), entry)
    if (rollout?.member.uid !== part.uid) continue
    const moment = rolloutAt(rollout.schedule, atMs)
    if (!isOver(moment)) {
      live = { entry, moment }
      continue
    }
    const settled = settle(draft, rollout, moment, atMs)
    if (!settled.ok) return settled
  }
  return ok(live)
}

interface LiveRollout {
  readonly entry: Entry
  readonly moment: RolloutMoment
}

/** Returns the refusal of a write that a live rollout would undo. */
export function taken({ entry, moment }: LiveRollout, why: string): Fault {
  return fault(
    'conflict',
    `The rollout ${entry.uid} of this member is ${moment.state}: ${why}. Promote or abort it first.`,
  )
}

export function decideRollout(
  draft: Draft,
  entry: Entry,
  { intent, atMs }: DecideRollout,
): Result<Entry, Fault> {
  const { spec } = entry.object
  const rollout = openRollout(objectsOf(draft), entry)
  const before = rollout === undefined ? undefined : rolloutAt(rollout.schedule, atMs)
  const state = before?.state ?? spec.settled ?? 'rolled_back'
  if (rollout === undefined || !allowedIntents[state].includes(intent)) {
    const message = `${intent} is not possible: the rollout is ${state.replace('_', ' ')}`
    return err(fault('conflict', message))
  }
  const { schedule } = rollout
  // The time of a decision is after that of the previous one, whatever this node's clock shows.
  const decidedAtMs = Math.max(atMs, (schedule.intents.findLast(isPast(atMs))?.atMs ?? -1) + 1)
  const intents = [
    ...((draft.raw(entry).spec['intents'] ?? []) as readonly JsonObject[]),
    { intent, at: instant(decidedAtMs) },
  ]
  const decided = [...schedule.intents, { intent, atMs: decidedAtMs }]
  const moment = rolloutAt(
    { ...schedule, intents: decided.toSorted((a, b) => a.atMs - b.atMs) },
    decidedAtMs,
  )
  if (!isOver(moment)) return withSpec(draft, entry, { intents })
  return settle(draft, rollout, moment, decidedAtMs, { intents })
}

const isPast =
  (nowMs: number) =>
  ({ atMs }: { readonly atMs: number }): boolean =>
    atMs <= nowMs

/**
 * Settles an ended rollout. The first node does it; a later one finds it done, and changes nothing.
 */
export function settleRollout(
  draft: Draft,
  entry: Entry,
  { atMs, regression }: SettleRollout,
): Result<Entry, Fault> {
  const rollout = openRollout(objectsOf(draft), entry)
  if (rollout === undefined) return ok(entry)
  const { schedule } = rollout
  const isOfAttempt = regression?.startAtMs === schedule.startAtMs
  const moment = rolloutAt(schedule, atMs, isOfAttempt ? regression : null)
  if (!isOver(moment)) return ok(entry)
  const endedAtMs = isOfAttempt && moment.reason === regression.reason ? regression.atMs : atMs
  return settle(draft, rollout, moment, endedAtMs)
}

function settle(
  draft: Draft,
  { entry, pool, member }: OpenRollout,
  { state, weight, reason }: RolloutMoment,
  atMs: number,
  fields: JsonObject = {},
): Result<Entry, Fault> {
  const weighed = setWeight(draft, draft.get('Pool', pool.uid) ?? pool, member.uid, weight)
  if (!weighed.ok) return weighed
  const settledAt = instant(atMs)
  const record = { settled: state, settledAt, reason: reason.slice(0, reasonLengthMax) }
  return withSpec(draft, entry, { ...fields, ...record })
}

function setWeight(
  draft: Draft,
  pool: ConfigEntry<'Pool'>,
  memberUid: string,
  weight: number | null,
): Result<unknown, Fault> {
  const found = draft.part('Member', { uid: memberUid })
  if (found === undefined || weight === null || found.part.weight === weight) return ok(null)
  const { list } = partSpecs.Member
  const parts = [...rawParts(draft.raw(pool), list)]
  const { position, part } = found
  parts[position] = { ...patched(parts[position] ?? {}, { weight }), uid: part.uid }
  return withSpec(draft, pool, { [list]: parts })
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}
