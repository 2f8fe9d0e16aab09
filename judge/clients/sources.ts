// Finds the tables of clients by which a service chooses, identified by their content.
import { createHash } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import { RangeTable } from '#routing/tables/range-table.ts'
import { cutsOf, rowsOfCut, rowsOfNetworks, rowsOfRanges } from './cuts.ts'
import type { ClientSource, Cuts } from './cuts.ts'

const networks = new WeakMap<Bundle, Map<number, ClientSource>>()

/** @param table row of the bundle's `networkTable` */
export function networkSource(bundle: Bundle, table: number): ClientSource {
  let known = networks.get(bundle)
  if (known === undefined) networks.set(bundle, (known = new Map<number, ClientSource>()))
  let source = known.get(table)
  if (source === undefined) {
    const cuts = cutsOf(rowsOfNetworks(bundle, table))
    known.set(table, (source = networksOf(cuts)))
  }
  return source
}

function networksOf(cuts: Cuts): ClientSource {
  const rows = { v4: rowsOfCut(cuts.v4), v6: rowsOfCut(cuts.v6) }
  return { key: digestOf(cuts), cuts: () => cuts, rows: () => rows }
}

/** Values are numbered as they first appear: tables that distinguish the same clients are equal. */
function digestOf({ v4, v6 }: Cuts): string {
  const hash = createHash('sha256')
  hash.update(Uint32Array.from(v4.starts)).update(v4.valueOf)
  hash.update(Array.from(v6.starts).join()).update(v6.valueOf)
  return hash.digest('base64')
}

const numbers = new WeakMap<SharedArrayBuffer, string>()
let last = 0

/** @param memory of a range table */
export function rangeSource(memory: SharedArrayBuffer): ClientSource {
  let key = numbers.get(memory)
  if (key === undefined) numbers.set(memory, (key = `ranges ${++last}`))
  const rows = rowsOfRanges(new RangeTable(memory))
  return { key, cuts: () => cutsOf(rows), rows: () => rows }
}
