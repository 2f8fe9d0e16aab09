// Holds the columns of a routing state as the journal knows them, and finds what changed in a pool.
import { createHash } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import { isResolved, slotCount, slotOfMember } from '#bundle/format/hostnames.ts'
import { endOfMembers } from '#routing/state/candidates.ts'
import { MemberOut, slotOffset } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { writeMember } from '#journal/format/changes.ts'
import type { MemberChange } from '#journal/format/changes.ts'
import { journalLimits } from '#journal/format/limits.ts'
import type { OctetWriter } from '#journal/format/octets.ts'

const addressBytes = 16

export class KnownColumns {
  readonly #bundle: Bundle
  readonly #healthy: Uint8Array
  readonly #score: Float32Array
  readonly #rttMs: Float32Array
  readonly #weight: Uint32Array
  readonly #out: Uint8Array
  readonly #addresses: Uint8Array

  /** Begins with the first state of the bundle: see `createRoutingState`. */
  constructor(bundle: Bundle) {
    const { members } = bundle.counts
    this.#bundle = bundle
    this.#healthy = new Uint8Array(members).fill(1)
    this.#score = new Float32Array(members).fill(1)
    this.#rttMs = new Float32Array(members)
    this.#weight = new Uint32Array(bundle.memberWeight)
    this.#out = new Uint8Array(members)
    this.#addresses = new Uint8Array(slotCount(bundle) * addressBytes)
    for (let member = 0; bundle.hasHostnames && member < members; member++) {
      if (isResolved(bundle, member)) this.#out[member] = MemberOut.Unresolved
    }
  }

  /**
   * Writes what differs in a pool, and remembers it.
   *
   * @returns how many members differ
   */
  writePool(state: RoutingState, pool: number, to: OctetWriter): number {
    let changed = 0
    const bundle = this.#bundle
    const end = endOfMembers(bundle, pool)
    for (let member = bundle.poolMemberStart[pool]!; member < end; member++) {
      const change = this.#changeOf(state, member)
      if (change === undefined) continue
      writeMember(to, member, change)
      changed++
    }
    return changed
  }

  #changeOf(state: RoutingState, member: number): MemberChange | undefined {
    const healthy = state.memberHealthy[member]!
    const score = state.memberScore[member]!
    const rttMs = state.memberRttMs[member]!
    const weight = state.memberWeight[member]!
    const out = state.memberOut[member]!
    const isSame =
      healthy === this.#healthy[member] &&
      score === this.#score[member] &&
      !isOtherRtt(this.#rttMs[member]!, rttMs) &&
      weight === this.#weight[member] &&
      out === this.#out[member]
    const address = this.#bundle.hasHostnames ? this.#newAddress(state, member) : undefined
    if (isSame && address === undefined) return undefined
    const change: MemberChange = {
      ...(healthy === this.#healthy[member] ? {} : { healthy }),
      ...(score === this.#score[member] ? {} : { score }),
      ...(isOtherRtt(this.#rttMs[member]!, rttMs) ? { rttMs } : {}),
      ...(weight === this.#weight[member] ? {} : { weight }),
      ...(out === this.#out[member] ? {} : { out }),
      ...(address === undefined ? {} : { address }),
    }
    this.#healthy[member] = healthy
    this.#score[member] = score
    if (change.rttMs !== undefined) this.#rttMs[member] = rttMs
    this.#weight[member] = weight
    this.#out[member] = out
    return change
  }

  /** The member's new address; undefined: it is known, or there is none. */
  #newAddress(state: RoutingState, member: number): Uint8Array | undefined {
    const bundle = this.#bundle
    if (!isResolved(bundle, member)) return undefined
    if ((state.memberOut[member]! & MemberOut.Unresolved) !== 0) return undefined
    const slot = slotOfMember(bundle, member)
    const pool = bundle.memberPool[member]!
    const isIpv4 = member < bundle.poolMemberStart[pool]! + bundle.poolCount4[pool]!
    const from = slotOffset(slot, state.slotVersion[slot]!)
    const now = state.slotOctets.subarray(from, from + (isIpv4 ? 4 : addressBytes))
    const known = this.#addresses.subarray(slot * addressBytes, slot * addressBytes + now.length)
    if (Buffer.compare(now, known) === 0) return undefined
    known.set(now)
    return now
  }
}

/**
 * Equal for bundles with the same members of the same pools, in the same rows, and the same pools
 * probed.
 */
export function membersKey(
  { memberUid, memberFlags, memberPool, poolUid }: Bundle,
  probed: Uint8Array,
): string {
  const hash = createHash('sha256')
  for (const column of [memberUid, memberFlags, memberPool, poolUid, probed]) {
    hash.update(`${column.byteLength} `).update(column)
  }
  return hash.digest('hex').slice(0, 16)
}

/** Whether a round trip differs enough: each probe measures anew. */
function isOtherRtt(known: number, now: number): boolean {
  if (known === 0 || now === 0) return known !== now
  const { rttPart, rttMs } = journalLimits
  return Math.abs(now - known) > Math.max(known * rttPart, rttMs)
}
