// Texts by number: each distinct text is stored once, text 0 is empty.

/** A text that was not asked for in its turn is looked for among so many that follow. */
const lookAhead = 16

/** Ids of texts that are no longer asked for, before all are given anew. */
const idleIdsMax = 10_000

export interface StringColumns {
  readonly stringOffset: Uint32Array
  readonly stringBytes: Uint8Array
}

/**
 * What a table leaves for the next one: mostly the same texts are asked for in the same order, and
 * comparing costs less than looking up. The numbers do not depend on it.
 */
export class StringMemory {
  /** For as long as this memory lasts; numbers are given anew for each table. */
  ids = new Map<string, number>()
  readonly texts: string[] = ['']
  /** Ids in the order in which the last table was asked, in the first `askedCount` places. */
  asked: number[] = []
  askedCount = 0
  /** Room for the next order: arrays of this size are work for the garbage collector. */
  spare: number[] = []
  readonly numberOfId: number[] = [0]
  columns: StringColumns | undefined
  /** Tells whose order it is: counts the tables. */
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
    this.columns = undefined
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
   * Asks first for what the table before was asked first.
   *
   * @returns false when that is not known any more
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
    const columns = (isSame ? memory.columns : undefined) ?? this.#newColumns()
    memory.spare = memory.asked
    memory.asked = this.#asked
    memory.askedCount = this.#askedCount
    memory.columns = columns
    memory.table++
    if (memory.texts.length > this.#idOfNumber.length + idleIdsMax) memory.clear()
    return columns
  }

  #newColumns(): StringColumns {
    const texts = this.#idOfNumber.map((id) => this.#memory.texts[id]!)
    const stringOffset = new Uint32Array(texts.length + 1)
    const stringBytes = Buffer.from(texts.join(''), 'utf8')
    // One octet for each unit: nearly always, and fifty times as fast to know.
    const isPlain = stringBytes.length === texts.reduce((sum, { length }) => sum + length, 0)
    let at = 0
    for (let i = 0; i < texts.length; i++) {
      at += isPlain ? texts[i]!.length : Buffer.byteLength(texts[i]!)
      stringOffset[i + 1] = at
    }
    return { stringOffset, stringBytes }
  }
}
