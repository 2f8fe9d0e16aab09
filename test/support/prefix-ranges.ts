// Networks with a value each, as ranges of a table in which the longest prefix counts.
import { disjointRanges } from '#routing/tables/cidr.ts'
import type { Cidr } from '#routing/tables/cidr.ts'
import type { Range4, Range6 } from '#routing/tables/range-table-builder.ts'

export interface ValuedCidr extends Cidr {
  readonly value: number
}

/**
 * Disjoint ranges in address order, where each address has the value of its longest prefix. The
 * first of equal prefixes wins.
 */
export function prefixesToRanges(prefixes: Iterable<ValuedCidr>): {
  ranges4: Range4[]
  ranges6: Range6[]
} {
  const { v4, v6 } = disjointRanges(
    prefixes,
    (prefix) => prefix,
    ([first]) => first.value,
  )
  return { ranges4: v4, ranges6: v6 }
}
