// Builds the range tables of a bundle's client networks; unchanged tables are copied from the
// previous bundle.
import { Network4Cell, Network6Cell, NetworkCell } from '#bundle/format/client-ranges.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { RangeHeader, Row4, Row6 } from './range-layout.ts'
import { planRangeTable } from './range-pack.ts'
import type { RangeColumns } from './range-pack.ts'
import { IndexCell, indexedRowsMin, networkBytesMax } from './network-layout.ts'

/** Returns the same memory each time, at least this large. */
type NetworkMemory = (bytes: number) => SharedArrayBuffer

/** Compares the digests that the loader has checked: equal tables, whatever else differs. */
export function hasSameNetworks(one: Bundle, other: Bundle): boolean {
  return columnsRead.every((name) => digestOf(one, name) === digestOf(other, name))
}

/** The sections that an index is built from. */
const columnsRead = ['networkTable', 'network4', 'network6'] as const

function digestOf({ manifest }: Bundle, name: string): string | undefined {
  return manifest.sections.find((section) => section.name === name)?.sha256
}

/**
 * @param before result for another bundle, in other memory than `memory` gives
 * @returns memory for `NetworkTables`; null: no table is large enough
 */
export function packNetworks(
  bundle: Bundle,
  memory: NetworkMemory = newMemory(),
  before: SharedArrayBuffer | null = null,
): SharedArrayBuffer | null {
  const { networkTable } = bundle
  const tables = networkTable.length / NetworkCell.Words
  const index = new IndexWriter(memory, tables)
  const known = new KnownTables(before)
  for (let table = 0; table < tables; table++) {
    const cell = table * NetworkCell.Words
    const count4 = networkTable[cell + NetworkCell.Count4]!
    const count6 = networkTable[cell + NetworkCell.Count6]!
    if (Math.max(count4, count6) < indexedRowsMin) continue
    const rows4 = rowsOf(bundle.network4, networkTable[cell]!, count4, Network4Cell)
    const rows6 = rowsOf(
      bundle.network6,
      networkTable[cell + NetworkCell.Start6]!,
      count6,
      Network6Cell,
    )
    index.add(table, new TableRows(rows4, rows6), known)
  }
  return index.memory
}

/** Memory for a single packing. */
function newMemory(): NetworkMemory {
  let buffer: SharedArrayBuffer | undefined
  return (bytes) => {
    buffer ??= new SharedArrayBuffer(bytes, { maxByteLength: networkBytesMax })
    if (buffer.byteLength < bytes) buffer.grow(bytes)
    return buffer
  }
}

function rowsOf(
  column: Uint32Array,
  first: number,
  count: number,
  { Words }: { readonly Words: number },
): Uint32Array {
  return column.subarray(first * Words, (first + count) * Words)
}

/** Header words of a table used by this file. */
const OwnCell = { Hash: RangeHeader.Owner, Base: RangeHeader.Owner + 1 } as const

/**
 * The rows of one table. Its lists usually lie together somewhere in `networkList`: relative to
 * their own base they stay the same when lists of other tables come or go before them.
 */
class TableRows {
  readonly rows4: Uint32Array
  readonly rows6: Uint32Array
  /** Subtracted from every list offset but 0, the empty list. */
  readonly base: number
  readonly hash: number

  constructor(rows4: Uint32Array, rows6: Uint32Array) {
    this.rows4 = rows4
    this.rows6 = rows6
    let least = 0xffff_ffff
    for (let at = Network4Cell.List; at < rows4.length; at += Network4Cell.Words) {
      if (rows4[at] !== 0) least = Math.min(least, rows4[at]!)
    }
    for (let at = Network6Cell.List; at < rows6.length; at += Network6Cell.Words) {
      if (rows6[at] !== 0) least = Math.min(least, rows6[at]!)
    }
    this.base = least === 0xffff_ffff ? 0 : least - 1
    const hash4 = hashOf(0x811c_9dc5, rows4, Network4Cell.Words, this.base)
    this.hash = hashOf(hash4, rows6, Network6Cell.Words, this.base) >>> 0
  }

  columns(): RangeColumns {
    const { rows4, rows6, base } = this
    const count4 = rows4.length / Network4Cell.Words
    const count6 = rows6.length / Network6Cell.Words
    const [start4, value4] = [new Uint32Array(count4), new Uint32Array(count4)]
    for (let row = 0; row < count4; row++) {
      start4[row] = rows4[row * Network4Cell.Words]!
      value4[row] = moved(rows4[row * Network4Cell.Words + Network4Cell.List]!, -base)
    }
    const [high6, low6] = [new Uint32Array(count6 * 2), new Uint32Array(count6 * 2)]
    const value6 = new Uint32Array(count6)
    for (let row = 0; row < count6; row++) {
      const at = row * Network6Cell.Words
      high6.set(rows6.subarray(at, at + 2), row * 2)
      low6.set(rows6.subarray(at + 2, at + 4), row * 2)
      value6[row] = moved(rows6[at + Network6Cell.List]!, -base)
    }
    return { start4, value4, high6, low6, value6 }
  }

  /** Whether a packed table was made from equal rows. */
  isOf(words: Uint32Array, table: number): boolean {
    const { rows4, rows6, base } = this
    const count4 = rows4.length / Network4Cell.Words
    const count6 = rows6.length / Network6Cell.Words
    if (words[table + RangeHeader.Count4] !== count4) return false
    if (words[table + RangeHeader.Count6] !== count6) return false
    const by = words[table + OwnCell.Base]! - base
    const packed4 = table + words[table + RangeHeader.Rows4]!
    for (let row = 0; row < count4; row++) {
      const [at, there] = [row * Network4Cell.Words, packed4 + row * Row4.Words]
      if (words[there] !== rows4[at]) return false
      if (words[there + Row4.Value] !== moved(rows4[at + Network4Cell.List]!, by)) return false
    }
    const packed6 = table + words[table + RangeHeader.Rows6]!
    const last6 = table + words[table + RangeHeader.Last6]!
    for (let row = 0; row < count6; row++) {
      const [at, there] = [row * Network6Cell.Words, packed6 + row * Row6.Words]
      for (let i = 0; i < 3; i++) if (words[there + i] !== rows6[at + i]) return false
      if (words[last6 + row] !== rows6[at + 3]) return false
      if (words[there + Row6.Value] !== moved(rows6[at + Network6Cell.List]!, by)) return false
    }
    return true
  }
}

/** 0 is the empty list and stays. */
function moved(list: number, by: number): number {
  return list === 0 ? 0 : list + by
}

/** FNV-1a, by words; the last word of a row is its list. */
function hashOf(start: number, rows: Uint32Array, rowWords: number, base: number): number {
  let hash = start
  for (let at = 0; at < rows.length; at += rowWords) {
    for (let i = at; i < at + rowWords - 1; i++) hash = Math.imul(hash ^ rows[i]!, 0x0100_0193)
    hash = Math.imul(hash ^ moved(rows[at + rowWords - 1]!, -base), 0x0100_0193)
  }
  return hash
}

/** A fixed-length view: it does not grow with the memory. */
function wordsOf(memory: SharedArrayBuffer): Uint32Array {
  return new Uint32Array(memory, 0, Math.floor(memory.byteLength / 4))
}

/** The tables of the previous bundle, found by content. */
class KnownTables {
  readonly words: Uint32Array
  readonly #byHash = new Map<number, number>()

  constructor(memory: SharedArrayBuffer | null) {
    this.words = memory === null ? new Uint32Array(0) : wordsOf(memory)
    const tables = this.words[IndexCell.Tables] ?? 0
    for (let table = 0; table < tables; table++) {
      const at = this.words[IndexCell.First + table]!
      if (at !== 0) this.#byHash.set(this.words[at + OwnCell.Hash]!, at)
    }
  }

  /** The first word of an equal table; 0: there is none. */
  find(rows: TableRows): number {
    const at = this.#byHash.get(rows.hash) ?? 0
    return at !== 0 && rows.isOf(this.words, at) ? at : 0
  }
}

/** Writes tables one after the other while the memory grows. */
class IndexWriter {
  readonly #ask: NetworkMemory
  readonly #tables: number
  #memory: SharedArrayBuffer | null = null
  #words: Uint32Array = new Uint32Array(0)
  /** In words. */
  #end: number

  constructor(ask: NetworkMemory, tables: number) {
    this.#ask = ask
    this.#tables = tables
    this.#end = Math.ceil((IndexCell.First + tables) / lineWords) * lineWords
  }

  /** null: nothing was added. */
  get memory(): SharedArrayBuffer | null {
    return this.#memory
  }

  add(table: number, rows: TableRows, known: KnownTables): void {
    const at = this.#end
    const from = known.find(rows)
    if (from !== 0) {
      const words = known.words[from + RangeHeader.End]!
      if (!this.#reserve(words)) return
      this.#words.set(known.words.subarray(from, from + words), at)
      this.#moveLists(at, rows.base - known.words[from + OwnCell.Base]!)
    } else {
      const { bytes, write } = planRangeTable(rows.columns())
      if (!this.#reserve(bytes / 4)) return
      write(this.#memory!, at * 4)
      this.#moveLists(at, rows.base)
    }
    this.#words[at + OwnCell.Hash] = rows.hash
    this.#words[at + OwnCell.Base] = rows.base
    this.#words[IndexCell.First + table] = at
  }

  /** @returns false: there is no room */
  #reserve(words: number): boolean {
    const end = this.#end + words
    if (end * 4 > networkBytesMax) return false
    if (this.#memory === null || end > this.#words.length) {
      const wanted = Math.min(Math.max(end * 4, this.#words.length * 8), networkBytesMax)
      const isFirst = this.#memory === null
      this.#memory = this.#ask(wanted)
      this.#words = wordsOf(this.#memory)
      if (isFirst) this.#begin()
    }
    this.#end = end
    return true
  }

  #begin(): void {
    this.#words.fill(0, 0, this.#end)
    this.#words[IndexCell.Tables] = this.#tables
    this.#words[IndexCell.FirstTable] = this.#end
  }

  /** Moves all list offsets of a table; the order of its values, and so its groups, stay. */
  #moveLists(table: number, by: number): void {
    const words = this.#words
    if (by === 0) return
    const move = (at: number): void => {
      words[at] = moved(words[at]!, by)
    }
    const rows4 = table + words[table + RangeHeader.Rows4]!
    const rows6 = table + words[table + RangeHeader.Rows6]!
    const values = table + words[table + RangeHeader.GroupValue]!
    for (let row = 0; row < words[table + RangeHeader.Count4]!; row++) {
      move(rows4 + row * Row4.Words + Row4.Value)
    }
    for (let row = 0; row < words[table + RangeHeader.Count6]!; row++) {
      move(rows6 + row * Row6.Words + Row6.Value)
    }
    for (let i = 0; i < words[table + RangeHeader.Values]!; i++) move(values + i)
  }
}

/** Words of one cache line. */
const lineWords = 16
