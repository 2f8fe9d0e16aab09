// Looks a client up in a range table.
import type { Chain } from './chain.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'

/** The row of the range that holds the client. */
export function rowOfClient(table: RangeTable, { client }: Chain): number {
  const { words } = client
  return client.isIpv6
    ? table.find6(words[0]! | 0, words[1]! | 0, words[2]! | 0, words[3]! | 0)
    : table.find4(words[0]! | 0)
}

export function valueOfRow(table: RangeTable, { client }: Chain, row: number): number {
  return client.isIpv6 ? table.value6(row) : table.value4(row)
}
