// The mutable state beside a bundle: health, candidate lists, cursors. Written by one thread, read
// by all.
import { assert } from '#lib/assert.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { slotCount } from '#bundle/format/hostnames.ts'

/**
 * A row of `pools`: what a choice needs of a pool, in half a cache line. There are two copies of
 * the candidate list. `Version` counts rebuilds, and its lowest bit tells which copy is current:
 * the writer fills the other one, then adds one. The copy that a reader uses is not touched before
 * the version changes; a reader that sees a change reads again, from the new copy. It never waits.
 * The first read of the version is a plain load (the next reads depend on it); only the second,
 * which must not come early, is atomic: a call that costs as much as the rest of the choice.
 */
export const PoolCell = {
  Words: 8,
  Version: 0,
  /** Two cells, by family: position in `candidates` of the first candidate, in copy 0. */
  Start: 2,
  /** Four cells, by copy * 2 + family: number of candidates. */
  Count: 4,
} as const

// Exported constants are slower than local ones: see answer/answer.ts.
const { Words: poolWords, Start: poolStart } = PoolCell

/** Cells of a pool in `firstByPriority`, by copy * 2 + family. */
export const priorityCells = 4

/** Bits of `memberOut`: what keeps an enabled, healthy member out of rotation. */
export const MemberOut = {
  /** It has not passed its warm-up gate. */
  Warming: 1,
  /** A maintenance window holds it out. */
  Maintenance: 2,
  /** It is a slot of a host name and has no address now. */
  Unresolved: 4,
} as const

const slotBytes = 16

export class RoutingState {
  readonly memberCount: number
  readonly pools: Int32Array
  /**
   * Member indices. Two copies, each with a place for every member; copy k begins at
   * k * memberCount.
   */
  readonly candidates: Uint32Array
  /** Beside `candidates`: the weights up to and including this one, within its family. */
  readonly weightSums: Uint32Array
  /** The candidate that failover picks, or -1. */
  readonly firstByPriority: Int32Array
  /** 1 when the last verdict was good, or there was none. */
  readonly memberHealthy: Uint8Array
  /** 0 to 1; 1 while scoring is off. */
  readonly memberScore: Float32Array
  /** Mean of the last probes in milliseconds; 0: too few of them. */
  readonly memberRttMs: Float32Array
  /** The weight in effect: the bundle's, or that of a rollout. `weightSums` are sums of shares. */
  readonly memberWeight: Uint32Array
  /**
   * The weight by which choices are made. Where a pool has host names, each address of one has its
   * part of the member's weight, and all weights of the pool are scaled; else `memberWeight`
   * itself.
   */
  readonly memberShare: Uint32Array
  /** Bits of MemberOut. */
  readonly memberOut: Uint8Array
  /**
   * By slot: counts its changes of address; the lowest bit tells which copy is current. Read like
   * `Version` of PoolCell.
   */
  readonly slotVersion: Int32Array
  /** Two copies of 16 octets for each slot; IPv4 in the first four. See `slotOffset`. */
  readonly slotOctets: Uint8Array
  /** One element: the SOA serial of every zone. */
  readonly soaSerial: Uint32Array
  /** By service * 2 + family: answers given so far, modulo 2^32; shared by all threads. */
  readonly serviceCursor: Int32Array
  readonly buffers: RoutingBuffers

  constructor(bundle: Bundle, buffers: RoutingBuffers) {
    const { members, pools, services } = bundle.counts
    const { table, cursors } = buffers
    const at = columnOffsets(bundle)
    const slots = slotCount(bundle)
    assert(table.byteLength >= at.end, 'the memory of a routing state holds its whole table')
    assert(cursors.byteLength >= services * 8, 'each service has two cursors')
    this.memberCount = members
    this.pools = new Int32Array(table, at.pools, pools * PoolCell.Words)
    this.candidates = new Uint32Array(table, at.candidates, members * 2)
    this.weightSums = new Uint32Array(table, at.weightSums, members * 2)
    this.firstByPriority = new Int32Array(table, at.firstByPriority, pools * priorityCells)
    this.memberHealthy = new Uint8Array(table, at.memberHealthy, members)
    this.memberScore = new Float32Array(table, at.memberScore, members)
    this.memberRttMs = new Float32Array(table, at.memberRttMs, members)
    this.memberWeight = new Uint32Array(table, at.memberWeight, members)
    this.memberOut = new Uint8Array(table, at.memberOut, members)
    const hasShares = slots > 0
    this.memberShare = hasShares
      ? new Uint32Array(table, at.memberShare, members)
      : this.memberWeight
    this.slotVersion = new Int32Array(table, at.slotVersion, slots)
    this.slotOctets = new Uint8Array(table, at.slotOctets, slots * 2 * slotBytes)
    this.soaSerial = new Uint32Array(table, at.soaSerial, 1)
    this.serviceCursor = new Int32Array(cursors, 0, services * 2)
    this.buffers = buffers
  }
}

/** Offsets of the columns in the table; the rows of pools start at a cache line. */
function columnOffsets(bundle: Bundle) {
  const { members, pools } = bundle.counts
  const slots = slotCount(bundle)
  const candidates = pools * PoolCell.Words * 4
  const weightSums = candidates + members * 2 * 4
  const firstByPriority = weightSums + members * 2 * 4
  const memberScore = firstByPriority + pools * priorityCells * 4
  const memberRttMs = memberScore + members * 4
  const memberWeight = memberRttMs + members * 4
  const soaSerial = memberWeight + members * 4
  const memberShare = soaSerial + 4
  const slotVersion = memberShare + (slots > 0 ? members * 4 : 0)
  const slotOctets = slotVersion + slots * 4
  const memberHealthy = slotOctets + slots * 2 * slotBytes
  const memberOut = memberHealthy + members
  const end = memberOut + members
  return {
    pools: 0,
    candidates,
    weightSums,
    firstByPriority,
    memberScore,
    memberRttMs,
    memberWeight,
    soaSerial,
    memberShare,
    slotVersion,
    slotOctets,
    memberHealthy,
    memberOut,
    end,
  }
}

/** Offset of the copy of a slot's address that a version selects. */
export function slotOffset(slot: number, version: number): number {
  return (slot * 2 + (version & 1)) * slotBytes
}

/** Position in `candidates` of a pool's first candidate of a family. */
export function firstCandidate(
  state: RoutingState,
  poolIndex: number,
  copy: number,
  family: number,
): number {
  const start = state.pools[poolIndex * poolWords + poolStart + family]!
  return copy * state.memberCount + start
}

/** The shared memory of a RoutingState, as sent to other threads. */
export interface RoutingBuffers {
  readonly table: SharedArrayBuffer
  /** Separate, so that two bundles with the same services can share it. */
  readonly cursors: SharedArrayBuffer
}

/**
 * Cursors are per family, because a client's A and AAAA queries alternate: one cursor would pin
 * each to a half.
 */
export function cursorBytes({ counts }: Bundle): number {
  return counts.services * 2 * 4
}

/** Provides zeroed shared memory for a state. */
export interface RoutingMemory {
  readonly table: (bytes: number) => SharedArrayBuffer
  readonly cursors: (bytes: number) => SharedArrayBuffer
}

export const freshMemory: RoutingMemory = {
  table: (bytes) => new SharedArrayBuffer(bytes),
  cursors: (bytes) => new SharedArrayBuffer(bytes),
}

export function routingTableBytes(bundle: Bundle): number {
  return columnOffsets(bundle).end
}
