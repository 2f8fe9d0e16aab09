// Converts offsets to lines and columns, only for diagnostics that are printed.

export interface Position {
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1, in UTF-16 units, as editors and SARIF count. */
  readonly column: number
}

/** The line starts of one text. */
export class LineTable {
  readonly #text: string
  readonly #starts: number[] = [0]

  constructor(text: string) {
    this.#text = text
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#starts.push(at + 1)
  }

  positionOf(offset: number): Position {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - this.#starts[low]! + 1 }
  }

  /**
   * @param line counted from 1
   * @returns its text without the line end; undefined beyond the end
   */
  lineText(line: number): string | undefined {
    const start = this.#starts[line - 1]
    if (start === undefined) return undefined
    const end = this.#starts[line]
    return this.#text.slice(start, end === undefined ? undefined : end - 1).replace(/\r$/, '')
  }
}

/** Line tables of a report's sources, made when first asked for. */
export class SourcePositions {
  readonly #sources: ReadonlyMap<string, string>
  readonly #tables = new Map<string, LineTable>()

  constructor(sources: ReadonlyMap<string, string>) {
    this.#sources = sources
  }

  tableOf(path: string): LineTable {
    let table = this.#tables.get(path)
    if (table === undefined) {
      table = new LineTable(this.#sources.get(path) ?? '')
      this.#tables.set(path, table)
    }
    return table
  }

  positionOf(path: string, offset: number): Position {
    return this.tableOf(path).positionOf(offset)
  }
}
