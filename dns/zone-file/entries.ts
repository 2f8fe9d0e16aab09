// Splits a zone file into entries: lines, or several lines in parentheses. RFC 1035 section 5.1.
import { scanToken } from '#dns/rdata-text/tokens.ts'
import type { RdataFault, Token } from '#dns/rdata-text/tokens.ts'
import { zoneFileLimits } from './zone-record.ts'

/** One record or directive. Columns are counted from the beginning of the file, from 1. */
export interface Entry {
  readonly tokens: readonly Token[]
  /** White space comes first: the owner is that of the previous record. */
  readonly isIndented: boolean
  readonly endColumn: number
  /** The first fault; `tokens` is incomplete then. */
  readonly fault: RdataFault | undefined
}

export function* entriesOf(text: string): Generator<Entry> {
  const scanner = new EntryScanner(text)
  for (let entry = scanner.next(); entry !== undefined; entry = scanner.next()) {
    if (entry.tokens.length > 0 || entry.fault !== undefined) yield entry
  }
}

class EntryScanner {
  readonly #text: string
  #at = 0
  #tokens: Token[] = []
  #fault: RdataFault | undefined
  /** Positions of parentheses that are still open. */
  #open: number[] = []
  #endColumn = 1

  constructor(text: string) {
    this.#text = text
  }

  next(): Entry | undefined {
    if (this.#at >= this.#text.length) return undefined
    const isIndented = isBlank(this.#text.charCodeAt(this.#at))
    this.#tokens = []
    this.#fault = undefined
    if (this.#open.length > 0) this.#open = []
    this.#endColumn = this.#at + 1
    while (this.#at < this.#text.length && this.#fault === undefined) {
      if (this.#step()) break
    }
    const open = this.#open[0]
    if (this.#fault === undefined && open !== undefined) {
      this.#fail(open + 1, 'a closing parenthesis for this one')
    }
    if (this.#fault !== undefined) this.#skipLine()
    return { tokens: this.#tokens, isIndented, endColumn: this.#endColumn, fault: this.#fault }
  }

  /** @returns true when the entry has ended */
  #step(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    if (isLineEnd(code)) {
      const isPair = code === sign.cr && this.#text.charCodeAt(this.#at + 1) === sign.lf
      this.#at += isPair ? 2 : 1
      return this.#open.length === 0
    }
    if (code === sign.semicolon) this.#skipComment()
    else if (isBlank(code)) this.#at++
    else if (code === sign.open) this.#parenthesis(true)
    else if (code === sign.close) this.#parenthesis(false)
    else this.#token()
    return false
  }

  #parenthesis(isOpen: boolean): void {
    const here = this.#at++
    if (isOpen) {
      if (this.#open.length >= 100) return this.#fail(here + 1, 'fewer parentheses')
      this.#open.push(here)
    } else if (this.#open.pop() === undefined) {
      this.#fail(here + 1, 'an opening parenthesis before this one')
    }
  }

  #token(): void {
    const scanned = scanToken(this.#text, this.#at, true)
    if (!scanned.ok) return this.#fail(scanned.error.column, scanned.error.expected)
    if (this.#tokens.length >= zoneFileLimits.tokensOfRecordMax) {
      const expected = `at most ${zoneFileLimits.tokensOfRecordMax} words in one record`
      return this.#fail(this.#at + 1, expected)
    }
    this.#tokens.push(scanned.value)
    this.#at = scanned.value.end
    this.#endColumn = this.#at + 1
  }

  #skipComment(): void {
    const { length } = this.#text
    while (this.#at < length && !isLineEnd(this.#text.charCodeAt(this.#at))) this.#at++
  }

  /** Ignores the rest of the line after a fault. */
  #skipLine(): void {
    this.#skipComment()
    while (isLineEnd(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #fail(column: number, expected: string): void {
    this.#fault ??= { column, expected }
  }
}

/** Character codes: comparing one-character texts made long files slow. */
const sign = {
  tab: 0x09,
  lf: 0x0a,
  cr: 0x0d,
  space: 0x20,
  open: 0x28,
  close: 0x29,
  semicolon: 0x3b,
} as const

const isBlank = (code: number): boolean => code === sign.space || code === sign.tab
const isLineEnd = (code: number): boolean => code === sign.lf || code === sign.cr
