// The tokens of one rdata from left to right, and the first fault that was found among them.
import type { RdataFault, RdataText, Token } from './tokens.ts'

/** After the first fault every token is missing, so that a parser needs to look only at its end. */
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

  /** @param expected what to ask for when there is nothing left */
  take(expected: string): Token | undefined {
    const token = this.peek()
    if (token === undefined) return this.fail(this.#text.endColumn, expected)
    this.#next++
    return token
  }

  /** A token that must stand without quotes: a number, a name, hex digits. */
  takePlain(expected: string): Token | undefined {
    const token = this.take(expected)
    if (token?.isQuoted !== true) return token
    return this.fail(token.column, `${expected}, without quotes`)
  }

  /** Only the first fault counts. */
  fail(column: number, expected: string): undefined {
    this.fault ??= { column, expected }
    return undefined
  }

  finish(): void {
    const token = this.peek()
    if (token !== undefined) this.fail(token.column, 'nothing more')
  }
}
