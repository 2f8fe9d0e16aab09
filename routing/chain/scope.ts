// Works out the scope of an ECS answer: the largest network around the client that gets the same
// answer (RFC 7871).
import * as clientRanges from '#bundle/format/client-ranges.ts'
import * as scopeCache from './scope-cache.ts'
import type { Chain } from './chain.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import * as layout from '#routing/tables/range-layout.ts'
import type { RowGroups } from '#routing/tables/row-groups.ts'
import { valueOfRow } from './lookup-client.ts'
import * as networkLayout from '#routing/tables/network-layout.ts'
import { listOfBundleRow } from './networks.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { Network4Cell, Network6Cell, NetworkCell } = clientRanges
const { Verdict } = scopeCache
const { nodeShift } = layout
const { indexedRowsMin } = networkLayout

/** Kinds of comparison; they do not share results. */
export const LikenessKind = {
  GeoRules: 1,
  MapFile: 2,
  AsnFilter: 3,
  AsnAlgorithm: 4,
  Country: 5,
  Region: 6,
  Nearest: 7,
  Distances: 8,
} as const

/** Decides whether a step would treat other clients as it treats this one. */
export interface Likeness {
  /** One of LikenessKind. */
  readonly kind: number
  /** @param value of the step's table */
  readonly isAlike: (chain: Chain, value: number) => boolean
  /**
   * Compares all values of a group at once, 0 excluded; without it they are compared one by one.
   */
  readonly ofGroup?: (chain: Chain, group: number) => scopeCache.Verdict
  /** Whether all values below a node are alike; when it is given the cache is not used. */
  readonly isNodeAlike?: (chain: Chain, groups: RowGroups, node: number) => boolean
}

/**
 * Effort of a query's search before it draws on the reserve of its thread: a row or a node costs 1,
 * a comparison 2 and more. When both are used up the scope is longer than necessary, never shorter.
 */
export const effortMax = 2_048
const comparisonEffort = 2
/** Candidates, as a power of two, whose comparison costs as much as a row: 20 to 30 ns. */
const candidatesShift = 2

/**
 * Makes the chain need the shortest prefix around the client in which all values are alike.
 *
 * @param row the client's
 */
export function needAlike(chain: Chain, table: RangeTable, row: number, likeness: Likeness): void {
  if (!chain.wantsScope || chain.count === 1) return
  const edge = nearestEdge(chain, table, row)
  const bits = Math.abs(edge)
  if (bits <= chain.scope) return
  const near = edge < 0 ? row - 1 : row + 1
  if (!likeness.isAlike(chain, valueOfRow(table, chain, near))) chain.need(bits)
  else widen(chain, table, row, edge < 0, likeness)
}

/**
 * Examines the end of the client's row that has more bits in common with the client. It settles
 * nearly every query: where the row beyond is not alike, the other end does not matter.
 *
 * @returns how many bits tell the client from that row, negative for the row before; 0: the table
 * has one row
 */
export function nearestEdge(chain: Chain, table: RangeTable, row: number): number {
  const rows = chain.client.isIpv6 ? table.count6 : table.count4
  const before = row > 0 ? bitsFromBefore(chain, table, row) : 0
  const behind = row < rows - 1 ? bitsFrom(chain, table, row + 1) : 0
  return before > behind ? -before : behind
}

/** As `needAlike`, for the lists of a table of client networks. */
export function needAlikeLists(chain: Chain, table: number, row: number, likeness: Likeness): void {
  if (!chain.wantsScope || chain.count === 1) return
  const ranges = chain.networks.rangesOf(table)
  if (ranges !== null) needAlike(chain, ranges, row, likeness)
  else needAlikeRows(chain, table, row, likeness)
}

/**
 * Examines rows of a bundle one by one: usually few. A table without room for an index may have
 * many; then the effort ends the search.
 */
function needAlikeRows(chain: Chain, table: number, row: number, likeness: Likeness): void {
  const { networkTable } = chain.bundle
  const cell = table * NetworkCell.Words + (chain.client.isIpv6 ? NetworkCell.Start6 : 0)
  const first = networkTable[cell]!
  const last = first + networkTable[cell + 1]! - 1
  chain.alike.open(chain, likeness.kind, effortMax)
  let low = row
  while (low > first && bitsFromBefore(chain, null, low) > chain.scope) {
    if (isBundleRowAlike(chain, low - 1, first, likeness)) low--
    else chain.need(bitsFromBefore(chain, null, low))
  }
  let high = row
  while (high < last && bitsFrom(chain, null, high + 1) > chain.scope) {
    if (isBundleRowAlike(chain, high + 1, first, likeness)) high++
    else chain.need(bitsFrom(chain, null, high + 1))
  }
}

/** @param first the table's first row in the client's family */
function isBundleRowAlike(chain: Chain, row: number, first: number, likeness: Likeness): boolean {
  const memo = chain.alike
  // The bits of a choice are shared by the rows of both families; rows beyond its part are not
  // cached.
  const isKept = row - first < indexedRowsMin
  const group = row - first + (chain.client.isIpv6 ? indexedRowsMin : 0)
  const known = isKept ? memo.verdict(group) : Verdict.Unknown
  if (known !== Verdict.Unknown) return known === Verdict.Alike
  if (!memo.spend(effortToCompare(chain))) return false
  const isAlike = likeness.isAlike(chain, listOfBundleRow(chain, row))
  if (isKept) memo.keep(group, isAlike ? Verdict.Alike : Verdict.Other)
  return isAlike
}

/**
 * Makes the chain need the shortest prefix of alike values, when the next row is alike.
 *
 * @param isBefore the neighbour known to be alike is the row before the client's
 */
export function widen(
  chain: Chain,
  table: RangeTable,
  row: number,
  isBefore: boolean,
  likeness: Likeness,
): void {
  const memo = chain.alike
  const { isIpv6 } = chain.client
  const groups = isIpv6 ? table.groups6 : table.groups4
  const isCached = likeness.isNodeAlike === undefined
  if (isCached) {
    memo.open(chain, likeness.kind, effortMax)
    memo.findStretch(row, isIpv6)
  } else {
    memo.first = row
    memo.end = row + 1
  }
  let level = 0
  if (memo.end - memo.first === 1) {
    const other = isBefore ? row + 1 : row - 1
    const hasOther = other >= 0 && other < groups.rows
    if (hasOther && !isRowAlike(chain, table, groups, other, likeness)) {
      chain.need(isBefore ? bitsFrom(chain, table, other) : bitsFromBefore(chain, table, row))
      if (isBefore) memo.first = lookBefore(chain, table, groups, row, 0, likeness)
      else memo.end = lookBehind(chain, table, groups, row + 1, 0, likeness)
      if (isCached) memo.keepStretch(isIpv6)
      return
    }
    // Takes the largest part around the client that is alike as a whole, then continues from both
    // of its ends.
    while (level < groups.top && isPartAlike(chain, table, groups, level + 1, row, likeness))
      level++
    memo.first = (row >>> (level * nodeShift)) << (level * nodeShift)
    memo.end = memo.first + (1 << (level * nodeShift))
  }
  memo.first = lookBefore(chain, table, groups, memo.first, level, likeness)
  memo.end = lookBehind(chain, table, groups, memo.end, level, likeness)
  if (isCached) memo.keepStretch(isIpv6)
}

/**
 * Finds the next row from `from` on that is not alike, skipping the largest parts that are alike,
 * as far as it matters for the scope.
 *
 * @returns the first row that is not alike, or that was not examined
 */
function lookBehind(
  chain: Chain,
  table: RangeTable,
  groups: RowGroups,
  from: number,
  fromLevel: number,
  likeness: Likeness,
): number {
  const { rows, top } = groups
  let row = from
  let level = fromLevel
  while (row < rows) {
    if (bitsFrom(chain, table, row) <= chain.scope) return row
    if (isPartAlike(chain, table, groups, level, row, likeness)) {
      row += 1 << (level * nodeShift)
      while (level < top && (row & ((1 << ((level + 1) * nodeShift)) - 1)) === 0) level++
    } else if (level-- === 0) {
      chain.need(bitsFrom(chain, table, row))
      return row
    }
  }
  return row
}

/** Does the same for the rows before `end`. @returns the first row of the alike ones */
function lookBefore(
  chain: Chain,
  table: RangeTable,
  groups: RowGroups,
  end: number,
  endLevel: number,
  likeness: Likeness,
): number {
  const { top } = groups
  let row = end
  let level = endLevel
  while (row > 0) {
    if (bitsFromBefore(chain, table, row) <= chain.scope) return row
    if (isPartAlike(chain, table, groups, level, row - 1, likeness)) {
      row = ((row - 1) >>> (level * nodeShift)) << (level * nodeShift)
      while (level < top && (row & ((1 << ((level + 1) * nodeShift)) - 1)) === 0) level++
    } else if (level-- === 0) {
      chain.need(bitsFromBefore(chain, table, row))
      return row
    }
  }
  return 0
}

/** @param row a row below the node of the level; at level 0 the row itself */
function isPartAlike(
  chain: Chain,
  table: RangeTable,
  groups: RowGroups,
  level: number,
  row: number,
  likeness: Likeness,
): boolean {
  if (level === 0) {
    const isBounded = likeness.isNodeAlike !== undefined || chain.alike.spend(1)
    return isBounded && isRowAlike(chain, table, groups, row, likeness)
  }
  const node = groups.nodeOf(level, row)
  if (likeness.isNodeAlike !== undefined) return likeness.isNodeAlike(chain, groups, node)
  const memo = chain.alike
  if (!memo.spend(1)) return false
  const verdict = compareNode(chain, table, groups, node, likeness)
  if (verdict !== Verdict.Mixed) return verdict === Verdict.Alike
  const key = node * 2 + (chain.client.isIpv6 ? 1 : 0)
  const known = memo.verdictOfNode(key, level)
  if (known !== Verdict.Unknown) return known === Verdict.Alike
  const isAlike = arePartsAlike(chain, table, groups, level, row, likeness)
  // An unknown result is not stored: the next query continues from what is known.
  if (memo.effort >= 0) memo.keepNode(key, level, isAlike)
  return isAlike
}

/** Compares a node by the groups below it. Mixed: the values must be compared. */
function compareNode(
  chain: Chain,
  table: RangeTable,
  { nodes, nodesAt, words }: RowGroups,
  node: number,
  likeness: Likeness,
): scopeCache.Verdict {
  const memo = chain.alike
  const at = nodesAt + node * words
  let isOpen = 0
  for (let word = 0; word < words; word++) {
    const there = nodes[at + word]!
    if ((there & memo.other[memo.at + word]!) !== 0) return Verdict.Other
    isOpen |= there & ~memo.alike[memo.at + word]!
  }
  if (isOpen === 0) return Verdict.Alike
  let verdict: scopeCache.Verdict = Verdict.Alike
  for (let word = 0; word < words; word++) {
    let open = nodes[at + word]! & ~memo.alike[memo.at + word]!
    while (open !== 0) {
      const bit = 31 - Math.clz32(open)
      open &= ~(1 << bit)
      let one = memo.verdict(word * 32 + bit)
      if (one === Verdict.Unknown) one = compareGroup(chain, table, word * 32 + bit, likeness)
      if (one === Verdict.Other) return one
      if (one === Verdict.Mixed) verdict = one
    }
  }
  return verdict
}

/** Compares each part of the next lower level below a node. */
function arePartsAlike(
  chain: Chain,
  table: RangeTable,
  groups: RowGroups,
  level: number,
  row: number,
  likeness: Likeness,
): boolean {
  const step = 1 << ((level - 1) * nodeShift)
  const first = (row >>> (level * nodeShift)) << (level * nodeShift)
  const end = Math.min(first + (step << nodeShift), groups.rows)
  for (let at = first; at < end; at += step) {
    if (!isPartAlike(chain, table, groups, level - 1, at, likeness)) return false
  }
  return true
}

function isRowAlike(
  chain: Chain,
  table: RangeTable,
  groups: RowGroups,
  row: number,
  likeness: Likeness,
): boolean {
  if (likeness.isNodeAlike !== undefined)
    return likeness.isAlike(chain, valueOfRow(table, chain, row))
  const group = groups.groupOf(row)
  let verdict = chain.alike.verdict(group)
  if (verdict === Verdict.Unknown) verdict = compareGroup(chain, table, group, likeness)
  if (verdict !== Verdict.Mixed) return verdict === Verdict.Alike
  if (!chain.alike.spend(effortToCompare(chain))) return false
  return likeness.isAlike(chain, valueOfRow(table, chain, row))
}

function compareGroup(
  chain: Chain,
  table: RangeTable,
  group: number,
  likeness: Likeness,
): scopeCache.Verdict {
  const memo = chain.alike
  const first = table.groupStart(group)
  const count = table.groupStart(group + 1) - first
  // Unfinished results are not kept, here and below: the next query continues.
  if (!memo.spend(effortToCompare(chain))) return Verdict.Mixed
  let verdict: scopeCache.Verdict =
    count === 1 || likeness.ofGroup === undefined ? Verdict.Mixed : likeness.ofGroup(chain, group)
  // Beyond a query's own share of effort the values are compared row by row.
  const valuesEffort = effortToCompare(chain) * count
  if (verdict === Verdict.Mixed && valuesEffort <= effortMax) {
    if (!memo.spend(valuesEffort)) return Verdict.Mixed
    let alike = 0
    for (let i = first; i < first + count; i++) {
      if (likeness.isAlike(chain, table.groupValue(i))) alike++
    }
    if (alike === count) verdict = Verdict.Alike
    else if (alike === 0) verdict = Verdict.Other
  }
  memo.keep(group, verdict)
  return verdict
}

/**
 * A comparison examines every candidate: a pool of thousands must not cost a query milliseconds.
 */
function effortToCompare({ count }: Chain): number {
  return comparisonEffort + (count >>> candidatesShift)
}

/** Signed: V8 boxes an unsigned word above 2^31 when it is passed on. */
function startWord({ bundle }: Chain, table: RangeTable | null, row: number, word: number): number {
  if (table === null) return bundle.network6[row * Network6Cell.Words + word]! | 0
  return table.start6(row, word) | 0
}

function start4({ bundle }: Chain, table: RangeTable | null, row: number): number {
  if (table === null) return bundle.network4[row * Network4Cell.Words]! | 0
  return table.start4(row) | 0
}

/** Leading bits that tell the client from the first address of a later row. */
function bitsFrom(chain: Chain, table: RangeTable | null, row: number): number {
  const { words, isIpv6 } = chain.client
  if (!isIpv6) return Math.clz32(words[0]! ^ start4(chain, table, row)) + 1
  for (let i = 0; i < 4; i++) {
    const difference = startWord(chain, table, row, i) ^ words[i]!
    if (difference !== 0) return i * 32 + Math.clz32(difference) + 1
  }
  return 128
}

/** Leading bits that tell the client from the last address before a row. */
function bitsFromBefore(chain: Chain, table: RangeTable | null, row: number): number {
  const { words, isIpv6 } = chain.client
  if (!isIpv6) return Math.clz32(words[0]! ^ (start4(chain, table, row) - 1)) + 1
  // Subtracts 1: the borrow passes the words that are 0, up to the last one that is not.
  let lowest = 3
  while (startWord(chain, table, row, lowest) === 0) lowest--
  for (let i = 0; i < 4; i++) {
    const before = startWord(chain, table, row, i) - (i >= lowest ? 1 : 0)
    const difference = before ^ words[i]!
    if (difference !== 0) return i * 32 + Math.clz32(difference) + 1
  }
  return 128
}
