// Looks a client up in a table of client networks, by one search: the compiler has settled the
// longest prefixes and the order of rules.
import * as clientRanges from '#bundle/format/client-ranges.ts'
import type { Chain } from './chain.ts'
import { rowOfClient, valueOfRow } from './lookup-client.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { Network4Cell, Network6Cell, NetworkCell } = clientRanges

/**
 * Finds the client's row: in the table's range table where it has one, else in `network4` or
 * `network6`.
 */
export function networkRow(chain: Chain, table: number): number {
  const ranges = chain.networks.rangesOf(table)
  if (ranges !== null) return rowOfClient(ranges, chain)
  return chain.client.isIpv6 ? row6(chain, table) : row4(chain, table)
}

/** Returns an offset in `networkList`: a count, then as many values. */
export function listOfRow(chain: Chain, table: number, row: number): number {
  const ranges = chain.networks.rangesOf(table)
  return ranges === null ? listOfBundleRow(chain, row) : valueOfRow(ranges, chain, row)
}

/** Returns the list of a row of `network4` or `network6`. */
export function listOfBundleRow({ bundle, client }: Chain, row: number): number {
  return client.isIpv6
    ? bundle.network6[row * Network6Cell.Words + Network6Cell.List]!
    : bundle.network4[row * Network4Cell.Words + Network4Cell.List]!
}

function row4({ bundle, client }: Chain, table: number): number {
  const { network4, networkTable } = bundle
  const address = client.words[0]!
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
