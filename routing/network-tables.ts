// Tables of client networks that are worth an index: as range tables, beside the bundle's own rows.
import { Network4Cell, Network6Cell, NetworkCell } from '#bundle/client-ranges.ts'
import type { Bundle } from '#bundle/bundle.ts'
import { packRangeTable } from './geo/range-pack.ts'
import { RangeTable } from './geo/range-table.ts'

/** Shared memory: worked out once for a bundle, read by every thread. */
export interface NetworkBuffers {
  /** Row of `networkTable`. */
  readonly table: number
  /** A range table; its values are offsets in `networkList`. */
  readonly ranges: SharedArrayBuffer
}

/** Fewer rows are searched, and looked at one by one, as fast without. */
const rowsMin = 64

export function networkBuffers(bundle: Bundle): readonly NetworkBuffers[] {
  const { networkTable } = bundle
  const buffers: NetworkBuffers[] = []
  for (let table = 0; table < networkTable.length / NetworkCell.Words; table++) {
    const cell = table * NetworkCell.Words
    const count4 = networkTable[cell + NetworkCell.Count4]!
    const count6 = networkTable[cell + NetworkCell.Count6]!
    if (Math.max(count4, count6) < rowsMin) continue
    const columns = {
      ...columns4(bundle, networkTable[cell + NetworkCell.Start4]!, count4),
      ...columns6(bundle, networkTable[cell + NetworkCell.Start6]!, count6),
    }
    buffers.push({ table, ranges: packRangeTable(columns) })
  }
  return buffers
}

/** By the digests that the loader has checked: equal tables, whatever else is different. */
export function hasSameNetworks(one: Bundle, other: Bundle): boolean {
  return columnsRead.every((name) => digestOf(one, name) === digestOf(other, name))
}

/** The sections that `networkBuffers` reads. */
const columnsRead = ['networkTable', 'network4', 'network6'] as const

function digestOf({ manifest }: Bundle, name: string): string | undefined {
  return manifest.sections.find((section) => section.name === name)?.sha256
}

/** By row of `networkTable`; undefined: the table has the bundle's rows alone. */
export function networkTables(
  { networkTable }: Bundle,
  buffers: readonly NetworkBuffers[],
): readonly (RangeTable | undefined)[] {
  const tables: (RangeTable | undefined)[] = Array.from({
    length: networkTable.length / NetworkCell.Words,
  })
  for (const { table, ranges } of buffers) tables[table] = new RangeTable(ranges)
  return tables
}

function columns4({ network4 }: Bundle, first: number, count: number) {
  const start4 = new Uint32Array(count)
  const value4 = new Uint32Array(count)
  for (let row = 0; row < count; row++) {
    const at = (first + row) * Network4Cell.Words
    start4[row] = network4[at + Network4Cell.Start]!
    value4[row] = network4[at + Network4Cell.List]!
  }
  return { start4, value4 }
}

function columns6({ network6 }: Bundle, first: number, count: number) {
  const high6 = new Uint32Array(count * 2)
  const low6 = new Uint32Array(count * 2)
  const value6 = new Uint32Array(count)
  for (let row = 0; row < count; row++) {
    const at = (first + row) * Network6Cell.Words
    for (let word = 0; word < 2; word++) {
      high6[row * 2 + word] = network6[at + word]!
      low6[row * 2 + word] = network6[at + 2 + word]!
    }
    value6[row] = network6[at + Network6Cell.List]!
  }
  return { high6, low6, value6 }
}
