// A text under edits that maps each character to its original place.
import type { LocalSpan } from '#diagnostics/diagnostic.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import type { Edit } from './mistake.ts'

export class Patch {
  readonly text: string
  readonly #length: number
  readonly #layers: readonly Layer[]

  private constructor(text: string, length: number, layers: readonly Layer[]) {
    this.text = text
    this.#length = length
    this.#layers = layers
  }

  static of(text: string): Patch {
    return new Patch(text, text.length, [])
  }

  /** @param edits of the current text */
  with(edits: readonly Edit[]): Patch {
    if (edits.length === 0) return this
    const layer = new Layer(edits)
    return new Patch(layer.apply(this.text), this.#length, [...this.#layers, layer])
  }

  toOriginal(offset: number): number {
    let place = offset
    for (let i = this.#layers.length - 1; i >= 0; i--) place = this.#layers[i]!.before(place)
    return Math.min(place, this.#length)
  }

  spanOf({ start, end }: LocalSpan): LocalSpan {
    if (this.#layers.length === 0) return { start, end }
    const from = this.toOriginal(start)
    return { start: from, end: Math.max(from + 1, this.toOriginal(end)) }
  }
}

/** Edits of one text, applied in one pass. */
class Layer {
  readonly #edits: readonly Edit[]
  /** Start of each edit in the resulting text. */
  readonly #starts: readonly number[]

  constructor(edits: readonly Edit[]) {
    const kept: Edit[] = []
    const starts: number[] = []
    let end = 0
    let shift = 0
    for (const edit of edits.toSorted((a, b) => a.at - b.at)) {
      // Only the first of two overlapping edits is kept.
      if (edit.at < end) continue
      kept.push(edit)
      starts.push(edit.at + shift)
      end = edit.at + edit.remove
      shift += edit.insert.length - edit.remove
    }
    this.#edits = kept
    this.#starts = starts
  }

  apply(text: string): string {
    const parts: string[] = []
    let from = 0
    for (const { at, remove, insert } of this.#edits) {
      parts.push(text.slice(from, at), insert)
      from = at + remove
    }
    parts.push(text.slice(from))
    return parts.join('')
  }

  /** Maps back by bisection, since a file may have an edit on every line. */
  before(place: number): number {
    const last = lowerBound(this.#starts.length, (i) => this.#starts[i]! <= place) - 1
    if (last < 0) return place
    const { at, remove, insert } = this.#edits[last]!
    const inside = place - this.#starts[last]!
    return inside >= insert.length
      ? at + remove + inside - insert.length
      : at + Math.min(inside, remove)
  }
}
