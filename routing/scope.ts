// How large a network around a client is treated alike: what the scope of a client subnet says (RFC
// 7871).
import * as clientRanges from '#bundle/client-ranges.ts'
import * as alikeMemo from './alike-memo.ts'
import type { Chain } from './chain.ts'
import type { RangeTable } from './geo/range-table.ts'
import { valueOfRow } from './lookup-client.ts'
import { listOfRow } from './networks.ts'

// Constants of this file, for the reason that runtime/answer.ts gives.
const { Network4Cell, Network6Cell, NetworkCell } = clientRanges
const { Verdict } = alikeMemo

/** Tells whether a step would do with one value of a table what it does with the client's. */
export interface Likeness {
  readonly isAlike: (chain: Chain, value: number) => boolean
}

/**
 * What a query may spend on looking around, about a microsecond: a row costs 1, a comparison 2.
 * Where more rows than that are alike the scope is longer than it had to be: on a table of the
 * world by 0.1 bits in the mean for IPv4, and by some for IPv6, where whole registries are alike.
 */
export const effortMax = 112
const comparisonEffort = 2
/** So many bits of candidates cost as much as a row. */
const candidatesShift = 4

/**
 * Makes the chain need the shortest prefix around the client in which all values are alike.
 *
 * @param row the client's
 */
export function needAlike(chain: Chain, table: RangeTable, row: number, likeness: Likeness): void {
  if (!chain.wantsScope || chain.count === 1) return
  const last = (chain.client.isIpv6 ? table.count6 : table.count4) - 1
  widen(chain, table, row, 0, last, likeness)
}

/** The same for the lists of a table of client networks. */
export function needAlikeLists(chain: Chain, table: number, row: number, likeness: Likeness): void {
  if (!chain.wantsScope || chain.count === 1) return
  const { networkTable } = chain.bundle
  const cell = table * NetworkCell.Words + (chain.client.isIpv6 ? NetworkCell.Start6 : 0)
  const first = networkTable[cell]!
  widen(chain, null, row, first, first + networkTable[cell + 1]! - 1, likeness)
}

/**
 * The end of the client's row that has more bits in common with the client settles nearly every
 * query: where the row beyond it is not alike, the other end does not matter.
 *
 * @param table null: the rows are those of the bundle's client networks
 */
function widen(
  chain: Chain,
  table: RangeTable | null,
  row: number,
  first: number,
  last: number,
  likeness: Likeness,
): void {
  const before = row > first ? bitsFromBefore(chain, table, row) : 0
  const behind = row < last ? bitsFrom(chain, table, row + 1) : 0
  const bits = Math.max(before, behind)
  if (bits <= chain.scope) return
  const value = valueAt(chain, table, before > behind ? row - 1 : row + 1)
  if (!likeness.isAlike(chain, value)) return chain.need(bits)
  const memo = chain.alike
  memo.clear(effortMax - effortToCompare(chain))
  memo.keep(value, true)
  join(chain, table, row, first, last, likeness)
}

/**
 * Joins rows to the client's on both sides in turn. A side ends at a row that is not alike, and
 * where the prefix that is needed already ends: what lies beyond it does not matter any more.
 */
function join(
  chain: Chain,
  table: RangeTable | null,
  row: number,
  first: number,
  last: number,
  likeness: Likeness,
): void {
  const memo = chain.alike
  let { scope } = chain
  let low = row
  let high = row
  let isLowOpen = low > first
  let isHighOpen = high < last
  while (isLowOpen || isHighOpen) {
    if (isLowOpen) {
      if (scope > 0 && bitsFromBefore(chain, table, low) <= scope) isLowOpen = false
      else if (memo.effort > 0 && isAlike(chain, valueAt(chain, table, low - 1), likeness)) {
        isLowOpen = --low > first
      } else {
        scope = bitsFromBefore(chain, table, low)
        isLowOpen = false
      }
    }
    if (isHighOpen) {
      if (scope > 0 && bitsFrom(chain, table, high + 1) <= scope) isHighOpen = false
      else if (memo.effort > 0 && isAlike(chain, valueAt(chain, table, high + 1), likeness)) {
        isHighOpen = ++high < last
      } else {
        scope = bitsFrom(chain, table, high + 1)
        isHighOpen = false
      }
    }
  }
  chain.need(scope)
}

function isAlike(chain: Chain, value: number, likeness: Likeness): boolean {
  const memo = chain.alike
  memo.effort--
  const known = memo.find(value)
  if (known !== Verdict.Unknown) return known === Verdict.Alike
  memo.effort -= effortToCompare(chain)
  const verdict = likeness.isAlike(chain, value)
  memo.keep(value, verdict)
  return verdict
}

/** It looks at every candidate: a pool of thousands must not cost a query milliseconds. */
function effortToCompare({ count }: Chain): number {
  return comparisonEffort + (count >>> candidatesShift)
}

function valueAt(chain: Chain, table: RangeTable | null, row: number): number {
  return table === null ? listOfRow(chain, row) : valueOfRow(table, chain, row)
}

/** Signed: an unsigned word above 2^31 would be an object when it is handed on. */
function startWord({ bundle }: Chain, table: RangeTable | null, row: number, word: number): number {
  if (table === null) return bundle.network6[row * Network6Cell.Words + word]! | 0
  return table.start6(row, word) | 0
}

function start4({ bundle }: Chain, table: RangeTable | null, row: number): number {
  if (table === null) return bundle.network4[row * Network4Cell.Words]! | 0
  return table.start4(row) | 0
}

/** Leading bits that tell the client from the first address of a row behind it. */
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
  // Less one: the borrow goes through the words that are 0, up to the last one that is not.
  let lowest = 3
  while (startWord(chain, table, row, lowest) === 0) lowest--
  for (let i = 0; i < 4; i++) {
    const before = startWord(chain, table, row, i) - (i >= lowest ? 1 : 0)
    const difference = before ^ words[i]!
    if (difference !== 0) return i * 32 + Math.clz32(difference) + 1
  }
  return 128
}
