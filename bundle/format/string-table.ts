// A table of strings: each distinct string is stored once and has a number; string 0 is empty.

/** Number of following texts searched when a text is not requested in the same order as before. */
const lookAhead = 16

/** Unused ids after which all ids are assigned anew. */
const idleIdsMax = 10_000

interface StringColumns {
  readonly stringOffset: Uint32Array
  readonly stringBytes: Uint8Array
}

const emptyTable = {
  columns: { stringOffset: Uint32Array.of(0, 0), stringBytes: new Uint8Array(0) },
} as const

/**
 * Lets a table reuse the last one: mostly the same texts are requested in the same order, and
 * comparing costs less than looking up. The numbers do not depend on it.
 */
export class StringMemory {
  /** Ids last as long as this memory; each table assigns its own numbers. */
  ids = new Map<string, number>()
  readonly texts: string[] = ['']
  /** Ids in the order of requests to the last table, in the first `askedCount` places. */
  asked: number[] = []
  askedCount = 0
  /** Array for the next order, reused to spare the garbage collector. */
  spare: number[] = []
  readonly numberOfId: number[] = [0]
  /**
   * The id of each number in the last table, in the first `numberCount` places: the order of the
   * texts in `columns`.
   */
  idOfNumber: number[] = [0]
  numberCount = 1
  /** Array for the ids of the next table. */
  spareIds: number[] = []
  columns: StringColumns = emptyTable.columns
  /** Number of the table that `asked` belongs to: tables are counted. */
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
    this.idOfNumber = [0]
    this.numberCount = 1
    this.columns = emptyTable.columns
    this.table++
  }
}

/** A run of texts requested from a table. */
export interface AskedTexts {
  readonly table: number
  /** Requests before the run. */
  readonly from: number
  readonly count: number
}

export class StringTable {
  readonly #memory: StringMemory
  readonly #before: readonly number[]
  readonly #beforeCount: number
  /** Position in it of the next expected text. */
  #at = 0
  #isSame = true
  readonly #asked: number[]
  #askedCount = 0
  /** The id of each number; only the first places are used. */
  readonly #idOfNumber: number[]
  #numberCount = 1
  /** The text requested last: columns often have runs of the same text. */
  #last = ''
  #lastId = 0
  #lastNumber = 0

  constructor(memory = new StringMemory()) {
    this.#memory = memory
    this.#before = memory.asked
    this.#beforeCount = memory.askedCount
    this.#asked = memory.spare
    this.#idOfNumber = memory.spareIds
    this.#idOfNumber[0] = 0
    memory.numberOfId.fill(0)
  }

  /** Returns the number of `text`, a new one for a new text. */
  add(text: string): number {
    if (text === '') return 0
    if (text === this.#last) return this.#lastNumber
    this.#last = text
    this.#lastId = this.#idOf(text)
    this.#lastNumber = this.#numberOf(this.#lastId)
    return this.#lastNumber
  }

  /** Whether the run was requested from the previous table, so that `again` takes its numbers. */
  follows({ table }: AskedTexts): boolean {
    return table === this.#memory.table
  }

  /** As `add`, of the text with this number in the previous table: no text is compared. */
  again(before: number): number {
    if (before === 0) return 0
    const id = this.#memory.idOfNumber[before]!
    if (id === this.#lastId) return this.#lastNumber
    this.#last = this.#memory.texts[id]!
    this.#lastId = id
    this.#meet(id)
    this.#lastNumber = this.#numberOf(id)
    return this.#lastNumber
  }

  /** Number of requests so far. */
  get askedCount(): number {
    return this.#askedCount
  }

  /** The requests since `from`, for `repeat` of the next table. */
  askedSince(from: number): AskedTexts {
    return { table: this.#memory.table + 1, from, count: this.#askedCount - from }
  }

  /** Requests all texts of the run again. @returns false: `follows` does not hold */
  repeat(run: AskedTexts): boolean {
    if (!this.follows(run)) return false
    const { from, count } = run
    if (from !== this.#at) this.#isSame = false
    for (let i = 0; i < count; i++) this.#numberOf(this.#before[from + i]!)
    this.#at = from + count
    return true
  }

  /** Goes on in the order of the previous table, if the text is among the next ones there. */
  #meet(id: number): void {
    const end = Math.min(this.#at + lookAhead, this.#beforeCount)
    for (let i = this.#at; i < end; i++) {
      if (this.#before[i] !== id) continue
      if (i > this.#at) this.#isSame = false
      this.#at = i + 1
      return
    }
    this.#isSame = false
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
    const number = this.#numberCount++
    numberOfId[id] = number
    this.#idOfNumber[number] = id
    return number
  }

  /** Returns the two sections of the table; nothing may be requested afterwards. */
  columns(): StringColumns {
    const memory = this.#memory
    const isSame = this.#isSame && this.#askedCount === this.#beforeCount
    const columns = isSame ? memory.columns : this.#newColumns()
    memory.spare = memory.asked
    memory.asked = this.#asked
    memory.askedCount = this.#askedCount
    memory.columns = columns
    memory.spareIds = memory.idOfNumber
    memory.idOfNumber = this.#idOfNumber
    memory.numberCount = this.#numberCount
    memory.table++
    if (memory.texts.length > this.#numberCount + idleIdsMax) memory.clear()
    return columns
  }

  /**
   * Copies the columns of the previous table, up to the first new number and after the last one.
   */
  #newColumns(): StringColumns {
    const { texts, idOfNumber: before, numberCount: beforeCount, columns: last } = this.#memory
    const ids = this.#idOfNumber
    const count = this.#numberCount
    const shift = beforeCount - count
    const shorter = Math.min(count, beforeCount)
    let start = 0
    while (start < shorter && ids[start] === before[start]) start++
    let end = count
    const least = start + Math.max(0, -shift)
    while (end > least && ids[end - 1] === before[end - 1 + shift]) end--
    const middle = ids.slice(start, end).map((id) => texts[id]!)
    const middleBytes = Buffer.from(middle.join(''), 'utf8')
    // One octet for each UTF-16 unit: nearly always true, and fifty times as fast to process.
    const isPlain = middleBytes.length === middle.reduce((sum, { length }) => sum + length, 0)
    const stringOffset = new Uint32Array(count + 1)
    stringOffset.set(last.stringOffset.subarray(0, start + 1))
    for (const [i, text] of middle.entries()) {
      const bytes = isPlain ? text.length : Buffer.byteLength(text)
      stringOffset[start + i + 1] = stringOffset[start + i]! + bytes
    }
    const restStart = last.stringOffset[end + shift]!
    for (let i = end; i < count; i++) {
      stringOffset[i + 1] = stringOffset[end]! + last.stringOffset[i + 1 + shift]! - restStart
    }
    const head = last.stringBytes.subarray(0, stringOffset[start])
    const rest = last.stringBytes.subarray(restStart)
    return { stringOffset, stringBytes: Buffer.concat([head, middleBytes, rest]) }
  }
}
