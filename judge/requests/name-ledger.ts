// Keeps what each name of the accepted configuration holds, so that judging a write takes time in
// proportion to what it touches.
import { perMeasure } from '#compiler/lower/name-standing.ts'
import type { Measure, PerMeasure, Standing } from '#compiler/lower/name-standing.ts'
import { addTo } from '#judge/guard/removal.ts'
import type { Touched } from './touched.ts'

export class NameLedger {
  readonly #base: NameLedger | undefined
  readonly #standings = new Map<string, Standing>()
  readonly #counts: Record<Measure, number>

  constructor(base?: NameLedger) {
    this.#base = base
    this.#counts = { ...(base?.counts ?? perMeasure(() => 0)) }
  }

  /** A copy for requests that may fail. The original must not change meanwhile. */
  fork(): NameLedger {
    return new NameLedger(this)
  }

  get counts(): PerMeasure<number> {
    return this.#counts
  }

  standingOf(name: string): Standing {
    return this.#standings.get(name) ?? this.#base?.standingOf(name) ?? 0
  }

  *names(): Generator<string> {
    for (const [name, standing] of this.#standings) if (standing > 0) yield name
    for (const name of this.#base?.names() ?? []) if (!this.#standings.has(name)) yield name
  }

  apply({ names }: Touched): void {
    for (const [name, { was, now }] of names) {
      const [before, standing] = [was?.standing ?? 0, now?.standing ?? 0]
      if (before === standing) continue
      if (standing === 0 && this.#base === undefined) this.#standings.delete(name)
      else this.#standings.set(name, standing)
      addTo(this.#counts, before, -1)
      addTo(this.#counts, standing, 1)
    }
  }
}
