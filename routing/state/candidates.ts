// Computes which members of a pool may answer now, in order of preference. Pure: bundle and health
// in, lists out.
import { assert } from '#lib/assert.ts'
import { addressOfMember, memberOctets } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { hostnameOfSlot, isAlias, isDiscovered, isResolved } from '#bundle/format/hostnames.ts'
import {
  cursorBytes,
  freshMemory,
  MemberOut,
  PoolCell,
  priorityCells,
  RoutingState,
  routingTableBytes,
} from './state.ts'
import type { RoutingMemory } from './state.ts'
import { shareWeights } from './shares.ts'
import { Family } from './query.ts'

/** A state in which every member is healthy and every list is built. */
export function createRoutingState(
  bundle: Bundle,
  soaSerial: number,
  memory: RoutingMemory = freshMemory,
): RoutingState {
  const state = new RoutingState(bundle, {
    table: memory.table(routingTableBytes(bundle)),
    cursors: memory.cursors(cursorBytes(bundle)),
  })
  fillAsDeclared(bundle, state)
  return rebuildAll(bundle, state, soaSerial)
}

/**
 * Makes the state of the next bundle, with the health and cursors of objects in both: pools and
 * services by uid, members by uid and address. Lists are built from the carried state. Weights and
 * windows are not carried: they follow from the bundle and the clock.
 */
export function carryRoutingState(
  previous: { readonly bundle: Bundle; readonly state: RoutingState },
  next: Bundle,
  soaSerial: number,
  memory: RoutingMemory = freshMemory,
): RoutingState {
  const hasSameServices = Buffer.compare(previous.bundle.serviceUid, next.serviceUid) === 0
  const state = new RoutingState(next, {
    table: memory.table(routingTableBytes(next)),
    // Same memory, so that answers given during the swap count.
    cursors: hasSameServices ? previous.state.buffers.cursors : memory.cursors(cursorBytes(next)),
  })
  fillAsDeclared(next, state)
  forEachPair(previous.bundle.poolUid, next.poolUid, (before, after) => {
    carryMembers(previous, before, next, state, after)
  })
  if (!hasSameServices) {
    forEachPair(previous.bundle.serviceUid, next.serviceUid, (before, after) => {
      for (const family of [Family.V4, Family.V6]) {
        state.serviceCursor[after * 2 + family] = previous.state.serviceCursor[before * 2 + family]!
      }
    })
  }
  return rebuildAll(next, state, soaSerial)
}

/** Sets health as before the first probe, weights as in the bundle, no member held out. */
function fillAsDeclared(bundle: Bundle, state: RoutingState): void {
  state.memberHealthy.fill(1)
  state.memberScore.fill(1)
  state.memberWeight.set(bundle.memberWeight)
  // Nothing has been resolved yet.
  for (let member = 0; bundle.hasHostnames && member < state.memberCount; member++) {
    if (isResolved(bundle, member)) state.memberOut[member] = MemberOut.Unresolved
  }
}

function rebuildAll(bundle: Bundle, state: RoutingState, soaSerial: number): RoutingState {
  state.soaSerial[0] = soaSerial
  for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  return state
}

/** Walks two columns of sorted uids and reports the rows that are in both. */
function forEachPair(
  before: Uint8Array,
  after: Uint8Array,
  visit: (before: number, after: number) => void,
): void {
  const left = Buffer.from(before.buffer, before.byteOffset, before.byteLength)
  const right = Buffer.from(after.buffer, after.byteOffset, after.byteLength)
  assert(left.length % 16 === 0 && right.length % 16 === 0, 'a column of uids has whole uids')
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const order = orderOf(left, i, right, j)
    if (order === 0) visit(i / 16, j / 16)
    if (order <= 0) i += 16
    if (order >= 0) j += 16
  }
}

/** A loop: uids mostly differ in their first octet, and a native comparison costs more. */
function orderOf(left: Uint8Array, i: number, right: Uint8Array, j: number): number {
  for (let at = 0; at < 16; at++) {
    const order = left[i + at]! - right[j + at]!
    if (order !== 0) return order
  }
  return 0
}

function carryMembers(
  previous: { readonly bundle: Bundle; readonly state: RoutingState },
  poolBefore: number,
  next: Bundle,
  state: RoutingState,
  poolAfter: number,
): void {
  const { bundle, state: old } = previous
  // Allocated on demand: most pools need none, and thousands of maps would be garbage at each
  // write.
  let marked: Map<string, number> | undefined
  const end = endOfMembers(bundle, poolBefore)
  for (let member = bundle.poolMemberStart[poolBefore]!; member < end; member++) {
    if (isAsAtFirst(bundle, old, member)) continue
    marked ??= new Map()
    marked.set(keyOfMember(bundle, member), member)
  }
  if (marked === undefined) return
  for (const member of membersOf(next, poolAfter)) {
    if (isResolved(next, member)) continue
    const was = marked.get(keyOfMember(next, member))
    if (was === undefined) continue
    state.memberHealthy[member] = old.memberHealthy[was]!
    state.memberScore[member] = old.memberScore[was]!
    state.memberRttMs[member] = old.memberRttMs[was]!
    state.memberOut[member] = old.memberOut[was]! & MemberOut.Warming
  }
}

/** Whether a member's state equals the initial one, apart from the address of a slot. */
function isAsAtFirst(bundle: Bundle, state: RoutingState, member: number): boolean {
  return (
    isResolved(bundle, member) ||
    (state.memberHealthy[member] === 1 &&
      state.memberScore[member] === 1 &&
      state.memberRttMs[member] === 0 &&
      (state.memberOut[member]! & MemberOut.Warming) === 0)
  )
}

function keyOfMember(bundle: Bundle, member: number): string {
  const uid = Buffer.from(bundle.memberUid.subarray(member * 16, member * 16 + 16))
  const target = isAlias(bundle, member)
    ? addressOfMember(bundle, member)
    : Buffer.from(memberOctets(bundle, member)).toString('latin1')
  return uid.toString('latin1') + target
}

/** The member indices of a pool. */
export function* membersOf(bundle: Bundle, pool: number): Generator<number> {
  const end = endOfMembers(bundle, pool)
  for (let member = bundle.poolMemberStart[pool]!; member < end; member++) yield member
}

/** The index after that of the last member of a pool. */
export function endOfMembers(bundle: Bundle, pool: number): number {
  return bundle.poolMemberStart[pool]! + bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
}

/** Builds the copy of a pool's lists that nobody reads, then makes it the current one. */
export function rebuildPool(bundle: Bundle, state: RoutingState, pool: number): void {
  assert(pool >= 0 && pool < bundle.counts.pools, 'lists are built for a pool of the bundle')
  const row = pool * PoolCell.Words
  // Atomic, so that no write below precedes this read of the version.
  const version = Atomics.load(state.pools, row + PoolCell.Version)
  const copy = (version & 1) ^ 1
  const start = bundle.poolMemberStart[pool]!
  const count4 = bundle.poolCount4[pool]!
  const end = endOfMembers(bundle, pool)
  assert(end <= state.memberCount, 'the members of a pool are in the state of their bundle')
  state.pools[row + PoolCell.Start + Family.V4] = start
  state.pools[row + PoolCell.Start + Family.V6] = start + count4
  if (bundle.hasHostnames) shareWeights(bundle, state, pool)
  const isEnough = !isBelowMinHealthy(bundle, state, pool)
  const size4 = isEnough ? count4 : 0
  const size6 = isEnough ? bundle.poolCount6[pool]! : 0
  rebuildFamily(bundle, state, { pool, copy, family: Family.V4, start, size: size4 })
  rebuildFamily(bundle, state, {
    pool,
    copy,
    family: Family.V6,
    start: start + count4,
    size: size6,
  })
  Atomics.store(state.pools, row + PoolCell.Version, version + 1)
}

/** True when too few members are ready: the pool then answers nothing, whatever the filters do. */
export function isBelowMinHealthy(bundle: Bundle, state: RoutingState, pool: number): boolean {
  const wanted = bundle.poolMinHealthy[pool]!
  return wanted > 0 && readyMembers(bundle, state, pool) < wanted
}

/**
 * How many members are ready, of both families: the same machine often has an address of each. A
 * host name is one member, which is ready with any of its addresses; discovered ones are one each.
 */
export function readyMembers(bundle: Bundle, state: RoutingState, pool: number): number {
  let ready = 0
  const hostnames = new Set<number>()
  for (const member of membersOf(bundle, pool)) {
    if (!isReady(bundle, state, member)) continue
    const hostname = isResolved(bundle, member) ? hostnameOfSlot(bundle, member) : -1
    if (hostname >= 0 && !isDiscovered(bundle, hostname)) hostnames.add(hostname)
    else ready++
  }
  return ready + hostnames.size
}

interface FamilyRange {
  readonly pool: number
  readonly copy: number
  readonly family: Family
  /** First member. */
  readonly start: number
  /** Members to look at; 0 leaves the list empty. */
  readonly size: number
}

function rebuildFamily(
  bundle: Bundle,
  state: RoutingState,
  { pool, copy, family, start, size }: FamilyRange,
): void {
  const { candidates, weightSums, memberScore } = state
  const first = copy * state.memberCount + start
  let end = first
  let isSorted = true
  for (let member = start; member < start + size; member++) {
    if (!isReady(bundle, state, member)) continue
    if (end > first) isSorted &&= memberScore[candidates[end - 1]!]! >= memberScore[member]!
    candidates[end++] = member
  }
  if (!isSorted) sortByScore(state, first, end)
  let best = -1
  let weightSum = 0
  for (let at = first; at < end; at++) {
    const member = candidates[at]!
    weightSum += state.memberShare[member]!
    weightSums[at] = weightSum
    if (best < 0 || priorityRank(bundle, member) < priorityRank(bundle, best)) best = member
  }
  assert(end - first <= size, 'a list has at most the members that were looked at')
  assert(best >= 0 || end === first, 'a list with members has a first one by priority')
  const cell = copy * 2 + family
  state.pools[pool * PoolCell.Words + PoolCell.Count + cell] = end - first
  state.firstByPriority[pool * priorityCells + cell] = best
}

/** Candidates by score, the best first; equal scores keep the order of the file. */
function sortByScore({ candidates, memberScore }: RoutingState, first: number, end: number): void {
  const list = candidates.subarray(first, end)
  list.sort((a, b) => memberScore[b]! - memberScore[a]! || a - b)
}

/**
 * Enabled, healthy and not held out, whatever the weight: ways that divide by weight give a ready
 * member of weight 0 no answers, and other ways ignore weights.
 */
export function isReady(bundle: Bundle, state: RoutingState, member: number): boolean {
  const isEnabled = (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0
  return isEnabled && state.memberHealthy[member] === 1 && state.memberOut[member] === 0
}

/** 1 comes first; 0 means unset and comes last. */
function priorityRank(bundle: Bundle, member: number): number {
  const priority = bundle.memberPriority[member]!
  return priority === 0 ? Number.POSITIVE_INFINITY : priority
}
