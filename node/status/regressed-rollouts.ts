// Lists rollouts that a regression has taken back: those whose files do not record it yet, and
// those that have done so for a short time.
import { assert } from '#lib/assert.ts'
import type { RegressedRollout } from '#alerts/facts.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { RolloutStatus } from '#server/node/overlay-clock.ts'
import { readInstant } from '#schemas/forms/instant.ts'

/** The reason that a file gives when a person has aborted the rollout. */
const byHand = 'aborted'
/** How long a recorded regression is reported: the record stays for ever, the alert should not. */
export const alertedForMs = 86_400_000

/**
 * @param serving rollouts of the bundle, which has no settled ones
 *
 * @param config undefined: it was not read yet
 */
export function regressedRollouts(
  serving: readonly RolloutStatus[],
  config: Pick<ConfigSnapshot, 'list'> | undefined,
  nowMs: number,
): readonly RegressedRollout[] {
  const found = new Map<string, RegressedRollout>()
  const all = config?.list('Rollout') ?? []
  const recent = all.filter((entry) => isRecent(entry, nowMs))
  const newest = recent.length === 0 ? new Map<string, number>() : newestStarts(all)
  for (const entry of recent) {
    const newestMs = newest.get(memberOf(entry))
    assert(newestMs !== undefined, 'a recent rollout is one of all')
    // A newer rollout tries the same member again.
    if (startOf(entry) < newestMs) continue
    const { uid, name, tenant, object } = entry
    const { pool, reason = '' } = object.spec
    found.set(uid, { uid, name, tenant, pool, reason })
  }
  for (const { uid, name, tenant, pool, state, reason } of serving) {
    if (state !== 'rolled_back' || reason === byHand) continue
    found.set(uid, { uid, name, tenant, pool, reason })
  }
  return [...found.values()]
}

/** Whether it is recent enough to report; one settled by hand, without a reason, is not. */
function isRecent({ object: { spec } }: ConfigEntry<'Rollout'>, nowMs: number): boolean {
  const { settled, settledAt = '', reason = '' } = spec
  if (settled !== 'rolled_back' || reason === '' || reason === byHand) return false
  return nowMs - (readInstant(settledAt).atMs ?? 0) < alertedForMs
}

/** By member: when its newest rollout began. */
function newestStarts(all: readonly ConfigEntry<'Rollout'>[]): Map<string, number> {
  const newest = new Map<string, number>()
  for (const entry of all) {
    const member = memberOf(entry)
    newest.set(member, Math.max(startOf(entry), newest.get(member) ?? 0))
  }
  return newest
}

const startOf = ({ object }: ConfigEntry<'Rollout'>): number =>
  readInstant(object.spec.startAt).atMs ?? 0

function memberOf({ tenant, object: { spec } }: ConfigEntry<'Rollout'>): string {
  return JSON.stringify([tenant, spec.pool, spec.memberId ?? spec.member])
}
