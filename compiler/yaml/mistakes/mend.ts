// Mends common YAML mistakes one after the other, so that one run shows every mistake of a file.
import type { YAMLError } from 'yaml'
import type { LocalSpan } from '#diagnostics/diagnostic.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'
import { lookalikesAt, lookalikesNear } from './lookalikes.ts'
import { indentedMark, mergeConflicts, mistakeIn } from './mistakes.ts'
import type { Mistake } from './mistake.ts'
import { Patch } from './patch.ts'
import { parseYaml, piecesMax } from '#compiler/yaml/parse/parse.ts'
import type { ParsedYaml } from '#compiler/yaml/parse/parse.ts'

/** More mistakes than any edit of a valid file makes: the rest is not read. */
export const mistakesMax = 50
/** Each mend parses the text again, so a large one is mended less often. */
const readCharactersMax = 1_000_000

export interface Mended extends ParsedYaml {
  /** The mended text. */
  readonly text: string
  /** The mistakes, at their places in the original text. */
  readonly findings: readonly LocalFinding[]
  /** False when an error is left: the document then says nothing about the rest. */
  readonly isWhole: boolean
  /** Maps from the mended text to the original. */
  readonly original: (span: LocalSpan) => LocalSpan
}

/** @param doubted places of values that the schema refuses, possibly because of look-alikes */
export function readMended(original: string, doubted: readonly number[] = []): Mended {
  const mender = new Mender(original)
  mender.mend()
  if (doubted.length > 0 && mender.isWhole) mender.mendLookalikes(doubted)
  return mender.mended()
}

class Mender {
  #patch: Patch
  readonly #findings: LocalFinding[] = []
  #parsed: ParsedYaml
  #isFull: boolean
  #readCharacters = 0
  #readPieces = 0

  constructor(original: string) {
    this.#patch = Patch.of(original)
    const found = [...indentedMark(original), ...mergeConflicts(original, mistakesMax + 1)]
    this.#isFull = found.length > mistakesMax
    this.#take(found.slice(0, mistakesMax))
    this.#parsed = this.#read(this.#patch)
  }

  get isWhole(): boolean {
    const { excess, document } = this.#parsed
    return !this.#isFull && excess === undefined && document.errors.length === 0
  }

  mended(): Mended {
    const patch = this.#patch
    return {
      ...this.#parsed,
      text: patch.text,
      findings: this.#findings,
      isWhole: this.isWhole,
      original: (span) => patch.spanOf(span),
    }
  }

  mend(): void {
    while (!this.#isFull && this.#parsed.excess === undefined) {
      const [error] = this.#parsed.document.errors
      if (error === undefined || !(this.#mendLookalike(error) || this.#mendMistake(error))) return
      this.#isFull = this.#findings.length >= mistakesMax
    }
  }

  mendLookalikes(doubted: readonly number[]): void {
    const patch = this.#patch
    const isDoubted = (start: number, end: number): boolean => {
      const from = patch.toOriginal(start)
      const to = patch.toOriginal(end)
      return doubted.some((place) => place >= from && place < to)
    }
    const room = mistakesMax - this.#findings.length
    const found = lookalikesAt(patch.text, isDoubted, room)
    if (found.length === 0) return
    this.#take(found)
    this.#parsed = this.#read(this.#patch)
    this.mend()
  }

  /** @returns whether to look for another mistake */
  #mendMistake(error: YAMLError): boolean {
    const mistake = mistakeIn(this.#patch.text, error)
    const start = this.#patch.toOriginal(mistake.finding.spans[0].start)
    // The mend had no effect, or left a part of the mistake.
    if (this.#findings.some(({ spans }) => spans[0].start === start)) return false
    // The first error is reported, however large the file is.
    if (mistake.edits.length === 0 || !this.#mayRead()) {
      this.#tell(mistake)
      return false
    }
    this.#take([mistake])
    this.#parsed = this.#read(this.#patch)
    return mistake.isGuess !== true || this.#parsed.document.errors.length === 0
  }

  /** A look-alike near the error is its cause if replacing it removes the error. */
  #mendLookalike(error: YAMLError): boolean {
    const failedAt = this.#patch.toOriginal(error.pos[0])
    for (const mistake of lookalikesNear(this.#patch.text, error.pos)) {
      if (!this.#mayRead()) return false
      const patch = this.#patch.with(mistake.edits)
      const parsed = this.#read(patch)
      const [next] = parsed.document.errors
      const isBetter = next === undefined || patch.toOriginal(next.pos[0]) > failedAt
      if (parsed.excess !== undefined || !isBetter) continue
      this.#take([mistake])
      this.#parsed = parsed
      return true
    }
    return false
  }

  /** Offsets are in the current text. */
  #take(mistakes: readonly Mistake[]): void {
    for (const mistake of mistakes) this.#tell(mistake)
    this.#patch = this.#patch.with(mistakes.flatMap(({ edits }) => edits))
  }

  #tell({ finding }: Mistake): void {
    const [first, ...others] = finding.spans.map((span) => this.#patch.spanOf(span))
    this.#findings.push({ ...finding, spans: [first!, ...others] })
  }

  #mayRead(): boolean {
    return this.#readCharacters < readCharactersMax && this.#readPieces < piecesMax
  }

  #read({ text }: Patch): ParsedYaml {
    const parsed = parseYaml(text)
    this.#readCharacters += text.length
    this.#readPieces += parsed.pieces
    return parsed
  }
}
