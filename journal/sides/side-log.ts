// Writes a part of the journal beside bundle and state, with an allowance of its own: all of it
// where a segment begins, then what changes; or why it is not kept.
import type { DayAllowance } from './allowance.ts'
import type { EntryStream } from '#journal/format/entry-stream.ts'
import { journalLimits } from '#journal/format/limits.ts'
import type { OctetWriter } from '#journal/format/octets.ts'
import { recordBytes } from '#journal/format/records.ts'

/** Writes what one part of the journal holds. Each payload begins where a record may. */
export interface SideSource {
  /** About how many octets `whole` gives. */
  readonly estimate: () => number
  /** All that is so now. What is written from then on goes on from it. */
  readonly whole: () => Buffer[]
  /** From here on nothing is known. */
  readonly writeEnd: (to: OctetWriter) => void
  /** Nothing of it is written for now. */
  readonly forget: () => void
}

export interface SideLogParts {
  /** What of a day's octets is used up, as a clause: `what browsers measured`. */
  readonly name: string
  readonly stream: EntryStream
  readonly allowance: DayAllowance
  readonly source: SideSource
  /** The stream, at the time of now. */
  readonly open: (stream: EntryStream) => OctetWriter
  /** Called the first time that the allowance was used up. */
  readonly warn: (line: string) => void
}

export class SideLog {
  readonly #parts: SideLogParts
  #isKept = false
  /** The segment that has begun says that the allowance was used up. */
  #isEnded = false
  #isWarned = false

  constructor(parts: SideLogParts) {
    this.#parts = parts
  }

  get stream(): EntryStream {
    return this.#parts.stream
  }

  /** The allowance is used up. */
  get isLimited(): boolean {
    return this.#isEnded
  }

  /** Octets of its day that are there. */
  get left(): number {
    return this.#parts.allowance.left
  }

  /** Where a change is written; undefined: it is not kept now. */
  entry(): OctetWriter | undefined {
    if (!this.#isKept) return undefined
    const to = this.#parts.open(this.#parts.stream)
    // What stood in the stream may have used up the allowance.
    return this.#isKept ? to : undefined
  }

  /** Payloads for a segment that begins now. */
  begin(): Buffer[] {
    this.#isEnded = false
    const payloads = this.#whole()
    if (payloads !== undefined) return payloads
    const { stream, source } = this.#parts
    source.writeEnd(stream.octets)
    this.#end()
    return [stream.octets.take()]
  }

  /** Payloads with which it goes on; undefined: there is no reason, or no room yet. */
  resume(): Buffer[] | undefined {
    const { allowance, source } = this.#parts
    if (!this.#isEnded) return undefined
    const share = allowance.perDay / journalLimits.resumePart
    if (!allowance.has(Math.max(2 * source.estimate(), share))) return undefined
    return this.#whole()
  }

  /** Counts octets of a record. @returns false: it was the last one for now */
  spend(bytes: number): boolean {
    if (!this.#isKept || this.#parts.allowance.spend(bytes)) return true
    this.#parts.source.writeEnd(this.#parts.open(this.#parts.stream))
    this.#end()
    return false
  }

  #whole(): Buffer[] | undefined {
    const { allowance, source } = this.#parts
    if (!allowance.has(source.estimate())) return undefined
    const payloads = source.whole()
    const bytes = payloads.reduce((sum, { length }) => sum + length + recordBytes, 0)
    if (!allowance.take(bytes)) return undefined
    this.#isKept = true
    this.#isEnded = false
    return payloads
  }

  #end(): void {
    const { name, source, allowance, warn } = this.#parts
    source.forget()
    this.#isKept = false
    this.#isEnded = true
    if (this.#isWarned) return
    this.#isWarned = true
    const megabytes = (allowance.perDay / 1_048_576).toFixed(1)
    warn(
      `the journal leaves out ${name} now and then: it may have ${megabytes} MiB a day; ` +
        'with a larger journal.maxMegabytes, or a smaller journal.maxAge, it has more',
    )
  }
}
