// Rebuilds the routing state of an instant: the first state of a segment, and the changes since.
import type { Bundle } from '#bundle/format/bundle.ts'
import { isResolved, slotOfMember } from '#bundle/format/hostnames.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { slotOffset } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { readEntries } from '#journal/format/changes.ts'
import type { Entry, MemberChange } from '#journal/format/changes.ts'
import type { Moment } from './moment.ts'
import { OctetReader } from '#journal/format/octets.ts'

/** Errors are clauses. A cut journal gives no wrong state; one of another bundle may. */
export function replayState(bundle: Bundle, moment: Moment): Result<RoutingState, string> {
  const { digest, serial } = moment.generation
  if (bundle.digest !== digest) return err(`bundle ${bundle.digest} is not bundle ${digest}`)
  const state = createRoutingState(bundle, serial)
  const begun = apply(bundle, state, entriesOf(moment.state, Infinity))
  if (!begun.ok) return begun
  for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  const built = lastBuilt(moment)
  let place = 0
  for (const { payload, untilMs } of moment.changes) {
    for (const entry of entriesOf(payload, untilMs)) {
      const applied = apply(bundle, state, [entry])
      if (!applied.ok) return applied
      // Only the last lists of a pool matter, so earlier ones are not built.
      if (entry.kind === 'built' && built.get(entry.pool) === place) {
        rebuildPool(bundle, state, entry.pool)
      }
      place++
    }
  }
  return ok(state)
}

/** By pool: the index of the entry that built its lists last. */
function lastBuilt({ changes }: Moment): ReadonlyMap<number, number> {
  const built = new Map<number, number>()
  let place = 0
  for (const { payload, untilMs } of changes) {
    for (const entry of entriesOf(payload, untilMs)) {
      if (entry.kind === 'built') built.set(entry.pool, place)
      place++
    }
  }
  return built
}

function* entriesOf(payload: Buffer, untilMs: number): Generator<Entry> {
  let ms = 0
  for (const entry of readEntries(new OctetReader(payload))) {
    if (entry.kind === 'time') ms += entry.ms
    if (ms > untilMs) return
    yield entry
  }
}

function apply(
  bundle: Bundle,
  state: RoutingState,
  entries: Iterable<Entry>,
): Result<null, string> {
  for (const entry of entries) {
    if (entry.kind === 'serial') state.soaSerial[0] = entry.serial
    if (entry.kind === 'built' && entry.pool >= bundle.counts.pools) return stranger
    if (entry.kind !== 'member') continue
    if (entry.member >= state.memberCount) return stranger
    if (!setMember(bundle, state, entry.member, entry.change)) return stranger
  }
  return ok(null)
}

const stranger = err('the journal speaks of members that this bundle does not have')

/**
 * Does not build lists.
 *
 * @returns false for a value that this member cannot have
 */
function setMember(
  bundle: Bundle,
  state: RoutingState,
  member: number,
  { healthy, score, rttMs, weight, out, address }: MemberChange,
): boolean {
  if (healthy !== undefined) state.memberHealthy[member] = healthy
  if (score !== undefined) state.memberScore[member] = score
  if (rttMs !== undefined) state.memberRttMs[member] = rttMs
  if (weight !== undefined) state.memberWeight[member] = weight
  if (out !== undefined) state.memberOut[member] = out
  if (address === undefined) return true
  if (!bundle.hasHostnames || !isResolved(bundle, member)) return false
  const slot = slotOfMember(bundle, member)
  state.slotOctets.set(address, slotOffset(slot, state.slotVersion[slot]!))
  return true
}
