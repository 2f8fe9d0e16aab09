// Where a client stands in a table of client networks. Longest prefixes and the order of rules were
// settled by the compiler; here it is one binary search, of a part that an index tells.
import * as clientRanges from '#bundle/client-ranges.ts'
import type { Bundle } from '#bundle/bundle.ts'
import type { Chain } from './chain.ts'
import * as networkIndexes from './network-index.ts'

// Constants of this file, for the reason that runtime/answer.ts gives.
const { Network4Cell, Network6Cell, NetworkCell } = clientRanges
const { IndexCell } = networkIndexes

/** The row of `network4` or `network6` that holds the client. */
export function networkRow(chain: Chain, table: number): number {
  return chain.client.isIpv6 ? row6(chain, table) : row4(chain, table)
}

/** An offset in `networkList`: how many values, then the values. */
export function listOfRow({ bundle, client }: Chain, row: number): number {
  return client.isIpv6
    ? bundle.network6[row * Network6Cell.Words + Network6Cell.List]!
    : bundle.network4[row * Network4Cell.Words + Network4Cell.List]!
}

function row4({ bundle, client, networkIndex }: Chain, table: number): number {
  const address = client.words[0]!
  const entries = networkIndex.length === 0 ? 0 : networkIndex[table * IndexCell.Words]!
  if (entries === 0) return rowWithoutIndex(bundle, table, address)
  const { network4 } = bundle
  const shift = networkIndex[table * IndexCell.Words + IndexCell.Shift]!
  const entry = entries + (address >>> shift)
  let row = networkIndex[entry]!
  let rows = networkIndex[entry + 1]! - row + 1
  // A jump that depends on the address is guessed wrong half the time; a sign is not guessed. The
  // rows behind the first start in the client's part or where it ends, so no difference overflows.
  while (rows > 1) {
    const half = rows >>> 1
    const isBehind = (address - network4[(row + half) * Network4Cell.Words]!) >> 31
    row += half & ~isBehind
    rows -= half
  }
  return row
}

function rowWithoutIndex({ network4, networkTable }: Bundle, table: number, address: number) {
  let low = networkTable[table * NetworkCell.Words + NetworkCell.Start4]!
  let high = low + networkTable[table * NetworkCell.Words + NetworkCell.Count4]! - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (network4[middle * Network4Cell.Words]! <= address) low = middle
    else high = middle - 1
  }
  return low
}

function row6({ bundle, client }: Chain, table: number): number {
  const { network6, networkTable } = bundle
  let low = networkTable[table * NetworkCell.Words + NetworkCell.Start6]!
  let high = low + networkTable[table * NetworkCell.Words + NetworkCell.Count6]! - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (startsAtOrBefore(network6, middle * Network6Cell.Words, client.words)) low = middle
    else high = middle - 1
  }
  return low
}

function startsAtOrBefore(network6: Uint32Array, at: number, words: Uint32Array): boolean {
  for (let i = 0; i < 4; i++) {
    if (network6[at + i] !== words[i]) return network6[at + i]! < words[i]!
  }
  return true
}
