// Reads the tokens of one rdata from left to right and keeps the first fault.
import type { RdataFault, RdataText, Token } from './tokens.ts'

/** After the first fault every token is missing, so a parser checks for faults only at its end. */
export class ValueReader {
  /** Wire form; relative names and `@` mean names below it. */
  readonly origin: Uint8Array | undefined
  fault: RdataFault | undefined
  readonly #text: RdataText
  #next = 0

  constructor(text: RdataText, origin: Uint8Array | undefined) {
    this.#text = text
    this.origin = origin
  }

  peek(): Token | undefined {
    return this.fault === undefined ? this.#text.tokens[this.#next] : undefined
  }

  /** @param expected what the fault asks for when no token is left */
  take(expected: string): Token | undefined {
    const token = this.peek()
    if (token === undefined) return this.fail(this.#text.endColumn, expected)
    this.#next++
    return token
  }

  /** Takes a token that must stand without quotes: a number, a name, hex digits. */
  takePlain(expected: string): Token | undefined {
    const token = this.take(expected)
    if (token?.isQuoted !== true) return token
    return this.fail(token.column, `${expected}, without quotes`)
  }

  /** Keeps the first fault only. */
  fail(column: number, expected: string): undefined {
    this.fault ??= { column, expected }
    return undefined
  }

  finish(): void {
    const token = this.peek()
    if (token !== undefined) this.fail(token.column, 'nothing more')
  }
}
