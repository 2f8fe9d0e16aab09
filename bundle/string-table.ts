// Texts by number: each distinct text is stored once, text 0 is empty.

export class StringTable {
  readonly #numbers = new Map<string, number>([['', 0]])
  /** What was asked for last: a column often has a run of the same. */
  #last = ''
  #lastNumber = 0

  /** The number of `text`; a new one when it is new. */
  add(text: string): number {
    if (text === '') return 0
    if (text === this.#last) return this.#lastNumber
    const number = this.#numberOf(text)
    this.#last = text
    this.#lastNumber = number
    return number
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(text, number)
    return number
  }

  /** The two sections of the table. */
  columns(): { stringOffset: Uint32Array; stringBytes: Uint8Array } {
    const texts = [...this.#numbers.keys()]
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
