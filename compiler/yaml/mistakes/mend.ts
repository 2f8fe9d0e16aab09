// Repairs the common mistakes of a YAML text one by one, so that one run reports all of them.
import type { LocalSpan } from '#compiler/diagnostics/diagnostic.ts'
import type { LocalFinding } from '#compiler/diagnostics/finding.ts'
import { lookalikes } from './lookalikes.ts'
import { mergeConflicts, mistakeIn } from './mistakes.ts'
import type { Edit, Mistake } from './mistake.ts'
import { parseYaml } from '#compiler/yaml/parse/parse.ts'
import type { ParsedYaml } from '#compiler/yaml/parse/parse.ts'

/** A file with more mistakes than this is no edit but another file. */
const mendsMax = 20
/** Each mend reads the text anew: a large one is mended less often. */
const readCharactersMax = 4_000_000

export interface Mended extends ParsedYaml {
  /** What was read in the end. */
  readonly text: string
  /** Of mistakes, in the places of the original. */
  readonly findings: readonly LocalFinding[]
  /** False when something is left over: the document then says nothing about the rest. */
  readonly isWhole: boolean
  /** From the mended text to the original. */
  readonly original: (span: LocalSpan) => LocalSpan
}

export function readMended(original: string): Mended {
  const patch = new Patch(original)
  const findings: LocalFinding[] = []
  const take = ({ finding, edits }: Mistake): void => {
    findings.push({ ...finding, spans: originals(finding.spans, patch) })
    patch.apply(edits)
  }
  for (const mistake of mergeConflicts(original)) take(mistake)
  for (const mistake of lookalikes(patch.text)) take(mistake)
  let parsed: ParsedYaml = parseYaml(patch.text)
  const turns = Math.min(mendsMax, Math.ceil(readCharactersMax / (original.length + 1)))
  for (let turn = 0; turn < turns && parsed.excess === undefined; turn++) {
    const [error] = parsed.document.errors
    if (error === undefined) break
    const mistake = mistakeIn(patch.text, error)
    const start = patch.toOriginal(mistake.finding.spans[0].start)
    // A mend that was of no use, or what is left of it.
    if (findings.some(({ spans }) => spans[0].start === start)) break
    take(mistake)
    if (mistake.edits.length === 0) break
    parsed = parseYaml(patch.text)
    if (mistake.isGuess === true && parsed.document.errors.length > 0) break
  }
  const isWhole = parsed.excess === undefined && parsed.document.errors.length === 0
  return {
    ...parsed,
    text: patch.text,
    findings,
    isWhole,
    original: (span) => patch.spanOf(span),
  }
}

function originals(spans: LocalFinding['spans'], patch: Patch): LocalFinding['spans'] {
  const [first, ...others] = spans.map((span) => patch.spanOf(span))
  return [first!, ...others]
}

/** A text under edits that knows where each of its characters was. */
class Patch {
  text: string
  readonly #length: number
  readonly #done: Edit[] = []

  constructor(text: string) {
    this.text = text
    this.#length = text.length
  }

  apply(edits: readonly Edit[]): void {
    // From the end, so that the places of the others stay.
    for (const edit of edits.toSorted((a, b) => b.at - a.at)) {
      const { at, remove, insert } = edit
      this.text = this.text.slice(0, at) + insert + this.text.slice(at + remove)
      this.#done.push(edit)
    }
  }

  toOriginal(offset: number): number {
    let place = offset
    for (const { at, remove, insert } of this.#done.toReversed()) {
      if (place >= at + insert.length) place += remove - insert.length
      else if (place >= at) place = at + Math.min(place - at, remove)
    }
    return Math.min(place, this.#length)
  }

  spanOf({ start, end }: LocalSpan): LocalSpan {
    if (this.#done.length === 0) return { start, end }
    const from = this.toOriginal(start)
    return { start: from, end: Math.max(from + 1, this.toOriginal(end)) }
  }
}
