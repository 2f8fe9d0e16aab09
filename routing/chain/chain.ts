// Holds the candidates of one answer while the steps of a filter chain narrow and order them.
import type { Bundle } from '#bundle/format/bundle.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { Random } from '#lib/random.ts'
import { ScopeCache } from './scope-cache.ts'
import { Client } from './client.ts'
import { NetworkTables } from '#routing/tables/network-tables.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import * as states from '#routing/state/state.ts'
import { firstCandidate } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'

// A constant of this file, for the reason that answer/answer.ts gives.
const { PoolCell } = states

/**
 * The candidates of a query. Each thread has one chain, filled for each query. A step works on
 * `members[0]` to `members[count - 1]` in place and may use `keys`, `scratch` and `scratchKeys` as
 * it likes.
 */
export class Chain {
  readonly members = new Uint32Array(bundleLimits.membersPerPoolMax)
  readonly keys = new Float64Array(bundleLimits.membersPerPoolMax)
  readonly scratch = new Uint32Array(bundleLimits.membersPerPoolMax)
  readonly scratchKeys = new Float64Array(bundleLimits.membersPerPoolMax)
  count = 0
  readonly client = new Client()
  readonly alike: ScopeCache
  bundle!: Bundle
  networks = new NetworkTables(null)
  state!: RoutingState
  readonly random: Random
  serviceIndex = 0
  /**
   * The pool of these members: the service's own, or the fallback pool when all of its members are
   * down.
   */
  poolIndex = 0
  /** Version of the pool's lists when these members were taken. */
  version = 0
  family: Family = Family.V4
  qtype = 0
  /** Greatest number of addresses in the reply. */
  answerCount = 1
  /** Owner name of the query in wire form: the last octets of `qname`. */
  qname: Uint8Array = new Uint8Array(0)
  qnameBytes = 0
  /**
   * The position or value that the running step picked, in its own terms, for comparison with
   * neighbours.
   */
  picked = 0
  /**
   * The range table of the last choice that depended on one table. The responder sets it to null
   * for each batch.
   */
  ranges: RangeTable | null = null
  /** False when no reply will carry the scope, so that steps need not work it out. */
  wantsScope = false
  /** Leading bits of the client's address on which the choice depends so far. RFC 7871. */
  scope = 0

  /** @param nowMs monotonic time, for work-reserve.ts; by default it stands still */
  constructor(random: Random, nowMs: () => number = () => 0) {
    this.random = random
    this.alike = new ScopeCache(nowMs)
  }

  /** Called for each query before any step looks at the client. */
  startScope(): void {
    this.scope = 0
    this.alike.startQuery()
  }

  /** Switches to the members of this bundle. */
  adopt(bundle: Bundle, state: RoutingState, networks: SharedArrayBuffer | null = null): void {
    this.bundle = bundle
    this.state = state
    this.networks = new NetworkTables(networks)
    this.alike.clear()
    this.ranges = null
  }

  /** Sets this chain up for the question of another chain. */
  setUpAs(other: Chain): void {
    this.adopt(other.bundle, other.state)
    this.networks = other.networks
    this.client.copy(other.client)
    this.serviceIndex = other.serviceIndex
    this.family = other.family
    this.qtype = other.qtype
    this.qname = other.qname
    this.qnameBytes = other.qnameBytes
  }

  /**
   * Loads the candidates of a pool, by score.
   *
   * @param isWeighted whether those of weight 0 are left out
   */
  load(poolIndex: number, isWeighted: boolean): void {
    const { state, family, members } = this
    const { pools, candidates } = state
    const row = poolIndex * PoolCell.Words
    this.poolIndex = poolIndex
    for (;;) {
      const version = pools[row + PoolCell.Version]!
      const copy = version & 1
      const count = pools[row + PoolCell.Count + copy * 2 + family]!
      const first = firstCandidate(state, poolIndex, copy, family)
      for (let i = 0; i < count; i++) members[i] = candidates[first + i]!
      this.count = count
      this.version = version
      if (Atomics.load(pools, row + PoolCell.Version) !== version) continue
      if (isWeighted) this.#dropWeightless()
      return
    }
  }

  #dropWeightless(): void {
    const { members, count } = this
    const { memberWeight } = this.state
    let kept = 0
    for (let i = 0; i < count; i++) {
      const member = members[i]!
      if (memberWeight[member]! > 0) members[kept++] = member
    }
    this.count = kept
  }

  /**
   * Notes that the choice depends on the first `bits` of the client's address. With one candidate
   * left it does not.
   */
  need(bits: number): void {
    if (bits > this.scope && this.count > 1) this.scope = bits
  }

  /** Moves a candidate to the front; the others keep their order. */
  bringToFront(index: number): void {
    const { members } = this
    const member = members[index]!
    for (let i = index; i > 0; i--) members[i] = members[i - 1]!
    members[0] = member
  }

  /** Removes all candidates but one. */
  keepOnly(index: number): void {
    this.members[0] = this.members[index]!
    this.count = 1
  }

  /** Orders the candidates by `keys`, the largest first; equal keys keep their order. */
  sortByKeys(): void {
    if (this.count <= insertionMax) this.#insertionSort()
    else this.#mergeSort()
  }

  #insertionSort(): void {
    const { members, keys, count } = this
    for (let i = 1; i < count; i++) {
      const member = members[i]!
      const key = keys[i]!
      let at = i
      while (at > 0 && keys[at - 1]! < key) {
        members[at] = members[at - 1]!
        keys[at] = keys[at - 1]!
        at--
      }
      members[at] = member
      keys[at] = key
    }
  }

  /** Sorts from the bottom up: a pool of thousands must not cost the square of its size. */
  #mergeSort(): void {
    const { members, keys, scratch, scratchKeys, count } = this
    for (let width = 1; width < count; width *= 2) {
      for (let low = 0; low < count; low += width * 2) {
        const middle = Math.min(low + width, count)
        const high = Math.min(low + width * 2, count)
        let left = low
        let right = middle
        for (let at = low; at < high; at++) {
          const takesLeft = left < middle && (right >= high || keys[left]! >= keys[right]!)
          const from = takesLeft ? left++ : right++
          scratch[at] = members[from]!
          scratchKeys[at] = keys[from]!
        }
      }
      for (let i = 0; i < count; i++) {
        members[i] = scratch[i]!
        keys[i] = scratchKeys[i]!
      }
    }
  }
}

/** Below this count it costs less to move neighbours than to copy back and forth. */
const insertionMax = 24
