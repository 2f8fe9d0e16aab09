// Pairs the pools of two bundles, and finds those that may choose differently.
import { address6Row, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as clientRanges from '#bundle/format/client-ranges.ts'
import { hostnameOfMember } from '#bundle/format/hostnames.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { EndpointCell } from '#bundle/format/routing-cells.ts'
import { areOctetsAlike, areTextsAlike } from './texts.ts'

const { Network4Cell, Network6Cell, NetworkCell } = clientRanges

export interface PoolPairs {
  /** By pool of the base: the pool of the head with the same uid, or -1. */
  readonly twin: Int32Array
  /**
   * By pool of the base: 1 when it chooses as its pair does, for all clients and whatever is up.
   */
  readonly isSame: Uint8Array
}

export function pairPools(base: Bundle, head: Bundle): PoolPairs {
  const twin = new Int32Array(base.counts.pools).fill(-1)
  const isSame = new Uint8Array(base.counts.pools)
  const overlays = [overlayTexts(base), overlayTexts(head)] as const
  let i = 0
  let j = 0
  while (i < base.counts.pools && j < head.counts.pools) {
    const order = compareUids(base.poolUid, i, head.poolUid, j)
    if (order === 0) {
      twin[i] = j
      const hasSameOverlays = overlays[0].get(i) === overlays[1].get(j)
      isSame[i] = hasSameOverlays && arePoolsAlike(base, i, head, j) ? 1 : 0
    }
    if (order <= 0) i++
    if (order >= 0) j++
  }
  return { twin, isSame }
}

function compareUids(one: Uint8Array, i: number, other: Uint8Array, j: number): number {
  for (let at = 0; at < 16; at++) {
    const difference = one[i * 16 + at]! - other[j * 16 + at]!
    if (difference !== 0) return difference
  }
  return 0
}

/** By pool: its rollouts and windows as text. */
export function overlayTexts(bundle: Bundle): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  const { rollouts, windows } = overlaysOf(bundle)
  for (const one of [...rollouts, ...windows]) {
    const member = one.member < 0 ? '' : uidOf(bundle.memberUid, one.member)
    const { pool, member: _, ...rest } = one
    const held = 'held' in rest ? rest.held?.map((row) => uidOf(bundle.memberUid, row)) : undefined
    const text = JSON.stringify({ ...rest, member, held })
    texts.set(pool, `${texts.get(pool) ?? ''}${text}\n`)
  }
  return texts
}

function arePoolsAlike(base: Bundle, one: number, head: Bundle, other: number): boolean {
  if (base.poolCount4[one] !== head.poolCount4[other]) return false
  if (base.poolCount6[one] !== head.poolCount6[other]) return false
  if (base.poolMinHealthy[one] !== head.poolMinHealthy[other]) return false
  const [first, start] = [base.poolMemberStart[one]!, head.poolMemberStart[other]!]
  const count = base.poolCount4[one]! + base.poolCount6[one]!
  const ipv4 = base.poolCount4[one]!
  for (let i = 0; i < count; i++) {
    if (!areMembersAlike(base, first + i, head, start + i, i < ipv4)) return false
  }
  const [rules, others] = [base.poolNetworks[one]! - 1, head.poolNetworks[other]! - 1]
  if (rules < 0 || others < 0) return rules === others
  const place = (from: number) => (member: number) => String(member - from)
  return areNetworksAlike([base, rules, place(first)], [head, others, place(start)])
}

function areMembersAlike(
  base: Bundle,
  one: number,
  head: Bundle,
  other: number,
  isIpv4: boolean,
): boolean {
  if (compareUids(base.memberUid, one, head.memberUid, other) !== 0) return false
  if (base.memberWeight[one] !== head.memberWeight[other]) return false
  if (base.memberPriority[one] !== head.memberPriority[other]) return false
  if (base.memberFlags[one] !== head.memberFlags[other]) return false
  if (base.memberPlace[one] !== head.memberPlace[other]) return false
  const [region, otherRegion] = [base.memberRegion[one]!, head.memberRegion[other]!]
  if (!areTextsAlike(base, region, head, otherRegion)) return false
  const [hostname, otherName] = [hostnameOfMember(base, one), hostnameOfMember(head, other)]
  if (hostname !== otherName) return false
  const isSameAddress = hostname !== undefined || isAddressAlike(base, one, head, other, isIpv4)
  return isSameAddress && isPlacedAlike(base, one, head, other)
}

function isAddressAlike(
  base: Bundle,
  one: number,
  head: Bundle,
  other: number,
  isIpv4: boolean,
): boolean {
  if (isIpv4) return areOctetsAlike(base.memberAddress, one * 4, head.memberAddress, other * 4, 4)
  const [at, otherAt] = [address6Row(base, one) * 16, address6Row(head, other) * 16]
  return areOctetsAlike(base.memberAddress6, at, head.memberAddress6, otherAt, 16)
}

function isPlacedAlike(base: Bundle, one: number, head: Bundle, other: number): boolean {
  const [row, otherRow] = [base.memberEndpoint[one]!, head.memberEndpoint[other]!]
  if (row === 0 || otherRow === 0) return row === otherRow
  for (let i = 0; i < EndpointCell.Words; i++) {
    const cell = base.endpointVector[row * EndpointCell.Words + i]
    if (cell !== head.endpointVector[otherRow * EndpointCell.Words + i]) return false
  }
  return true
}

/** A row of `networkTable`, and a function that names a value of its lists. */
type NamedNetworks = readonly [Bundle, number, (value: number) => string]

export function areNetworksAlike(one: NamedNetworks, other: NamedNetworks): boolean {
  const [base, table] = one
  const [head, otherTable] = other
  const at = table * NetworkCell.Words
  const otherAt = otherTable * NetworkCell.Words
  const lists = new Map<string, boolean>()
  const areListsAlike = (list: number, otherList: number): boolean => {
    const key = `${list} ${otherList}`
    const known = lists.get(key)
    if (known !== undefined) return known
    const isAlike = listText(one, list) === listText(other, otherList)
    lists.set(key, isAlike)
    return isAlike
  }
  for (const [start, count, words, list, column] of [
    [NetworkCell.Start4, NetworkCell.Count4, Network4Cell.Words, Network4Cell.List, 'network4'],
    [NetworkCell.Start6, NetworkCell.Count6, Network6Cell.Words, Network6Cell.List, 'network6'],
  ] as const) {
    const rows = base.networkTable[at + count]!
    if (rows !== head.networkTable[otherAt + count]) return false
    const from = base.networkTable[at + start]! * words
    const otherFrom = head.networkTable[otherAt + start]! * words
    for (let i = 0; i < rows * words; i++) {
      const [cell, otherCell] = [base[column][from + i]!, head[column][otherFrom + i]!]
      if (i % words === list ? !areListsAlike(cell, otherCell) : cell !== otherCell) return false
    }
  }
  return true
}

function listText([bundle, , nameOf]: NamedNetworks, list: number): string {
  const count = bundle.networkList[list]!
  const values = bundle.networkList.subarray(list + 1, list + 1 + count)
  return Array.from(values, nameOf).join()
}

/**
 * Whether the parts of a pool that no answer shows at once are equal: health checks and the like.
 */
export function isUpkeepAlike(base: Bundle, one: number, head: Bundle, other: number): boolean {
  const count = base.poolCount4[one]! + base.poolCount6[one]!
  if (count !== head.poolCount4[other]! + head.poolCount6[other]!) return false
  const [check, otherCheck] = [base.poolHealthCheck[one]!, head.poolHealthCheck[other]!]
  if (!areTextsAlike(base, check, head, otherCheck)) return false
  const [first, start] = [base.poolMemberStart[one]!, head.poolMemberStart[other]!]
  const hasExtra = base.memberExtra.length + head.memberExtra.length > 0
  for (let i = 0; i < count; i++) {
    if (base.memberPort[first + i] !== head.memberPort[start + i]) return false
    if (hasExtra && !areExtrasAlike(base, first + i, head, start + i)) return false
  }
  return true
}

function areExtrasAlike(base: Bundle, one: number, head: Bundle, other: number): boolean {
  const [was, is] = [memberExtraOf(base, one), memberExtraOf(head, other)]
  const { warmupThreshold, externalSignalMode } = was
  return warmupThreshold === is.warmupThreshold && externalSignalMode === is.externalSignalMode
}
