// A table of strings: each distinct string is stored once and has a number; string 0 is empty.

/** A text that was not asked for in its turn is looked for among so many that follow. */
const lookAhead = 16

/** Ids of texts that are no longer asked for, before all are given anew. */
const idleIdsMax = 10_000

export interface StringColumns {
  readonly stringOffset: Uint32Array
  readonly stringBytes: Uint8Array
}

const emptyTable = {
  idOfNumber: [0],
  columns: { stringOffset: Uint32Array.of(0, 0), stringBytes: new Uint8Array(0) },
} as const

/**
 * What a table leaves for the next one: mostly the same texts are asked for in the same order, and
 * comparing costs less than looking up. The numbers do not depend on it.
 */
export class StringMemory {
  /** Ids last as long as this memory; numbers are given anew for each table. */
  ids = new Map<string, number>()
  readonly texts: string[] = ['']
  /** Ids in the order in which the last table was asked, in the first `askedCount` places. */
  asked: number[] = []
  askedCount = 0
  /** Room for the next order: arrays of this size are work for the garbage collector. */
  spare: number[] = []
  readonly numberOfId: number[] = [0]
  /** The id of each number in the last table: the order of the texts in `columns`. */
  idOfNumber: readonly number[] = emptyTable.idOfNumber
  columns: StringColumns = emptyTable.columns
  /** Number of the table that `asked` belongs to: it counts the tables. */
  table = 0

  idOf(text: string): number {
    const known = this.ids.get(text)
    if (known !== undefined) return known
    const id = this.texts.length
    this.ids.set(text, id)
    this.texts.push(text)
    this.numberOfId.push(0)
    return id
  }

  clear(): void {
    this.ids = new Map()
    this.texts.length = 1
    this.numberOfId.length = 1
    this.askedCount = 0
    this.idOfNumber = emptyTable.idOfNumber
    this.columns = emptyTable.columns
    this.table++
  }
}

/** The first texts that a table was asked for. */
export interface AskedTexts {
  readonly table: number
  readonly count: number
}

export class StringTable {
  readonly #memory: StringMemory
  readonly #before: readonly number[]
  readonly #beforeCount: number
  /** The place in it of what will be asked for next, if nothing has changed. */
  #at = 0
  #isSame = true
  readonly #asked: number[]
  #askedCount = 0
  /** The id of each number. */
  readonly #idOfNumber: number[] = [0]
  /** What was asked for last: a column often has a run of the same. */
  #last = ''
  #lastNumber = 0

  constructor(memory = new StringMemory()) {
    this.#memory = memory
    this.#before = memory.asked
    this.#beforeCount = memory.askedCount
    this.#asked = memory.spare
    memory.numberOfId.fill(0)
  }

  /** The number of `text`; a new one when it is new. */
  add(text: string): number {
    if (text === '') return 0
    if (text === this.#last) return this.#lastNumber
    this.#last = text
    this.#lastNumber = this.#numberOf(this.#idOf(text))
    return this.#lastNumber
  }

  /** What has been asked so far, for `repeat` of the next table. */
  mark(): AskedTexts {
    return { table: this.#memory.table + 1, count: this.#askedCount }
  }

  /**
   * Asks for the first texts that the table before was asked for; nothing was asked yet. All have
   * the numbers that they had.
   *
   * @returns false: they are no longer known
   */
  repeat({ table, count }: AskedTexts): boolean {
    if (table !== this.#memory.table) return false
    for (let i = 0; i < count; i++) this.#numberOf(this.#before[i]!)
    this.#at = count
    return true
  }

  #idOf(text: string): number {
    const { texts } = this.#memory
    const end = Math.min(this.#at + lookAhead, this.#beforeCount)
    for (let i = this.#at; i < end; i++) {
      const id = this.#before[i]!
      if (texts[id] !== text) continue
      if (i > this.#at) this.#isSame = false
      this.#at = i + 1
      return id
    }
    this.#isSame = false
    return this.#memory.idOf(text)
  }

  #numberOf(id: number): number {
    this.#asked[this.#askedCount++] = id
    const { numberOfId } = this.#memory
    const known = numberOfId[id]!
    if (known > 0) return known
    const number = this.#idOfNumber.length
    numberOfId[id] = number
    this.#idOfNumber.push(id)
    return number
  }

  /** The two sections of the table, after which nothing more is asked. */
  columns(): StringColumns {
    const memory = this.#memory
    const isSame = this.#isSame && this.#askedCount === this.#beforeCount
    const columns = isSame ? memory.columns : this.#newColumns()
    memory.spare = memory.asked
    memory.asked = this.#asked
    memory.askedCount = this.#askedCount
    memory.columns = columns
    memory.idOfNumber = this.#idOfNumber
    memory.table++
    if (memory.texts.length > this.#idOfNumber.length + idleIdsMax) memory.clear()
    return columns
  }

  /** Copies the columns of the table before, up to the first new number and after the last one. */
  #newColumns(): StringColumns {
    const { texts, idOfNumber: before, columns: last } = this.#memory
    const ids = this.#idOfNumber
    const shorter = Math.min(ids.length, before.length)
    let start = 0
    while (start < shorter && ids[start] === before[start]) start++
    let same = 0
    while (same < shorter - start && ids.at(-1 - same) === before.at(-1 - same)) same++
    const end = ids.length - same
    const middle = ids.slice(start, end).map((id) => texts[id]!)
    const middleBytes = Buffer.from(middle.join(''), 'utf8')
    // One octet for each unit: nearly always, and fifty times as fast to know.
    const isPlain = middleBytes.length === middle.reduce((sum, { length }) => sum + length, 0)
    const stringOffset = new Uint32Array(ids.length + 1)
    stringOffset.set(last.stringOffset.subarray(0, start + 1))
    for (const [i, text] of middle.entries()) {
      const bytes = isPlain ? text.length : Buffer.byteLength(text)
      stringOffset[start + i + 1] = stringOffset[start + i]! + bytes
    }
    const shift = before.length - ids.length
    const restStart = last.stringOffset[end + shift]!
    for (let i = end; i < ids.length; i++) {
      stringOffset[i + 1] = stringOffset[end]! + last.stringOffset[i + 1 + shift]! - restStart
    }
    const head = last.stringBytes.subarray(0, stringOffset[start])
    const rest = last.stringBytes.subarray(restStart)
    return { stringOffset, stringBytes: Buffer.concat([head, middleBytes, rest]) }
  }
}
