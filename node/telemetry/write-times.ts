// Counts how long requests of the API take that make a commit, with the trace of the last one in
// each class.
import { assert } from '#lib/assert.ts'
import type { WriteTimesSnapshot } from '#metrics/snapshot.ts'

/** Upper bounds in seconds: from a write in memory to the timeout of a client. */
const classesSeconds: readonly number[] = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, Infinity],
]

type Class = WriteTimesSnapshot['classes'][number]

export class WriteTimes {
  readonly #classes: { -readonly [Key in keyof Class]: Class[Key] }[] = classesSeconds.map(
    (uptoSeconds) => ({ uptoSeconds, count: 0, exemplar: null }),
  )
  #sumSeconds = 0

  /** @param traceId undefined: it has no trace */
  note(seconds: number, atMs: number, traceId: string | undefined): void {
    const found = this.#classes.find(({ uptoSeconds }) => seconds <= uptoSeconds)
    assert(found !== undefined, 'each duration is of a class')
    this.#sumSeconds += seconds
    found.count++
    if (traceId !== undefined) found.exemplar = { traceId, seconds, atMs }
  }

  snapshot(): WriteTimesSnapshot {
    return { sumSeconds: this.#sumSeconds, classes: this.#classes }
  }
}
