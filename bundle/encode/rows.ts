// Sorts the encoders' rows by uid, and writes uids and addresses.
import { parseAddress } from '#dns/address.ts'
import { assert } from '#lib/assert.ts'
import { editsOf } from '#lib/sequence/list-edits.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'

interface Identified {
  readonly uid: string
}

/** Returns a copy in the order of the uids' octets. */
export function sortedByUid<T extends Identified>(items: readonly T[]): T[] {
  return Array.from(positionsByUid(items), (position) => items[position]!)
}

/** Returns the position of each row's item, rows in the order of the uids' octets. */
function positionsByUid(items: readonly Identified[]): Uint32Array {
  assert(items.length <= itemsMax, 'the limits keep rows below what a sort key can number')
  // Numbers sort ten times as fast as texts, and leave the texts nearly sorted.
  const keys = new Float64Array(items.length)
  for (let i = 0; i < keys.length; i++) keys[i] = firstBits(items[i]!.uid) * itemsMax + i
  keys.sort()
  const positions = Array.from(keys, (key) => key % itemsMax)
  return Uint32Array.from(
    positions.sort((a, b) => {
      const [first, second] = [items[a]!.uid, items[b]!.uid]
      return first < second ? -1 : first > second ? 1 : 0
    }),
  )
}

/** Together with `firstDigits` digits this is as much as a double holds exactly. */
const itemsMax = 2 ** 24
const firstDigits = 7

function firstBits(uid: string): number {
  let bits = 0
  for (let i = 0; i < firstDigits; i++) bits = bits * 16 + digitAt(uid, i)
  return bits
}

/** The value of a lower-case hex digit; any other character gives some number below 16. */
function digitAt(uid: string, i: number): number {
  const code = uid.charCodeAt(i)
  return (code >= 0x61 ? code - 0x57 : code - 0x30) & 15
}

/** Items as rows, by uid. */
export interface Rows<Row> {
  /** The position of each row's item. */
  readonly positions: Uint32Array
  /** The row of the item at each position. */
  readonly rowAt: Uint32Array
  readonly uids: Uint8Array
  readonly rows: readonly Row[]
}

/**
 * Keeps the result of each row for the next bundle, in which most rows are the same. Holds only the
 * rows of the last bundle.
 */
export class RowMemory<Item extends Identified, Row> {
  #items: readonly Item[] = []
  #last: Rows<Row> = {
    positions: new Uint32Array(0),
    rowAt: new Uint32Array(0),
    uids: new Uint8Array(0),
    rows: [],
  }

  /** @param items identical objects have identical content */
  rowsOf(items: readonly Item[], make: (item: Item) => Row): Rows<Row> {
    if (items === this.#items) return this.#last
    this.#last =
      this.#withSameUids(items, make) ?? this.#edited(items, make) ?? this.#sorted(items, make)
    this.#items = items
    return this.#last
  }

  #withSameUids(items: readonly Item[], make: (item: Item) => Row): Rows<Row> | undefined {
    const known = this.#items
    if (items.length !== known.length) return undefined
    const changed: number[] = []
    for (let i = 0; i < items.length; i++) {
      if (items[i] === known[i]) continue
      if (items[i]!.uid !== known[i]!.uid) return undefined
      changed.push(i)
    }
    if (changed.length === 0) return this.#last
    const rows = [...this.#last.rows]
    for (const position of changed) rows[this.#last.rowAt[position]!] = make(items[position]!)
    return { ...this.#last, rows }
  }

  /** Edits the order when a few items were added or removed: the order of the others stays. */
  #edited(items: readonly Item[], make: (item: Item) => Row): Rows<Row> | undefined {
    const edits = editsOf(this.#items, items)
    if (edits === undefined) return undefined
    const { moved } = edits
    const last = this.#last
    const positions = new Uint32Array(items.length)
    const rowAt = new Uint32Array(items.length)
    const uids = new Uint8Array(items.length * 16)
    const rows = new Array<Row>(items.length)
    let count = 0
    const place = (position: number, row: Row): void => {
      positions[count] = position
      rowAt[position] = count
      rows[count++] = row
    }
    const came = edits.came.toSorted((a, b) => (items[a]!.uid < items[b]!.uid ? -1 : 1))
    const before = came.map((position) => this.#firstRowFrom(items[position]!.uid))
    let next = 0
    for (let row = 0; row <= last.positions.length; row++) {
      for (; before[next] === row; next++) {
        const item = items[came[next]!]!
        writeUid(uids, count * 16, item.uid)
        place(came[next]!, make(item))
      }
      const position = row < last.positions.length ? moved[last.positions[row]!]! : -1
      if (position < 0) continue
      copyOctets(uids, count * 16, last.uids, row * 16, 16)
      place(position, last.rows[row]!)
    }
    return { positions, rowAt, uids, rows }
  }

  /** Finds the first of the last rows whose uid is at least this one. */
  #firstRowFrom(uid: string): number {
    const { positions } = this.#last
    return lowerBound(positions.length, (row) => this.#items[positions[row]!]!.uid < uid)
  }

  #sorted(items: readonly Item[], make: (item: Item) => Row): Rows<Row> {
    const positions = positionsByUid(items)
    const rowAt = new Uint32Array(items.length)
    const uids = new Uint8Array(items.length * 16)
    const rows: Row[] = []
    const known = this.#items
    const last = this.#last
    let at = 0
    for (let row = 0; row < positions.length; row++) {
      const item = items[positions[row]!]!
      rowAt[positions[row]!] = row
      let other = known[last.positions[at]!]
      while (other !== undefined && other !== item && other.uid < item.uid) {
        other = known[last.positions[++at]!]
      }
      rows.push(other === item ? last.rows[at]! : make(item))
      if (other?.uid === item.uid) copyOctets(uids, row * 16, last.uids, at * 16, 16)
      else writeUid(uids, row * 16, item.uid)
    }
    return { positions, rowAt, uids, rows }
  }
}

/** Copies by a loop: the native function costs more for few octets. */
export function copyOctets(
  target: Uint8Array,
  at: number,
  source: Uint8Array,
  start: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) target[at + i] = source[start + i]!
}

export function uidColumn(items: readonly Identified[]): Uint8Array {
  const column = new Uint8Array(items.length * 16)
  for (const [row, { uid }] of items.entries()) writeUid(column, row * 16, uid)
  return column
}

/** Accepts lower-case uids only, so that the order of texts is the order of octets. */
export function writeUid(column: Uint8Array, offset: number, uid: string): void {
  let digits = 0
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i)
    if (code === 0x2d) continue
    const digit = code >= 0x61 ? code - 0x57 : code - 0x30
    const isHex = digit >= 0 && digit < 16 && (code <= 0x39 || code >= 0x61) && digits < 32
    assert(isHex, 'a uid is a UUID in lower case')
    const at = offset + (digits >> 1)
    column[at] = (digits & 1) === 0 ? digit << 4 : column[at]! | digit
    digits++
  }
  assert(digits === 32, 'a uid has 32 digits')
}

/** Returns four octets of IPv4 or sixteen of IPv6; the compiler has checked the text. */
export function addressOctets(text: string): Uint8Array {
  const octets = parseAddress(text)
  assert(octets.ok, `the model holds valid addresses, got ${JSON.stringify(text)}`)
  return octets.value
}
