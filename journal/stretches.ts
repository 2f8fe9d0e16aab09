// Divides the time line of a member into a limited number of periods of one state.

export type MemberStanding =
  | 'up'
  /** Answered without being probed. */
  | 'unprobed'
  | 'down'
  /** The member came back, and has not passed its first probes since. */
  | 'warming'
  | 'maintenance'
  /** The member's host name had no address. */
  | 'unresolved'
  | 'disabled'
  /** The pool did not have it. */
  | 'absent'
  | 'unknown'

export interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  /** The worst known state of several joined periods; see `badness`. */
  readonly standing: MemberStanding
  /** Why the state is unknown; else empty. */
  readonly reason: string
  /** Changes in the period that are too short to be shown. */
  readonly changes: number
}

/** Periods of one member in an answer. */
export const stretchesMax = 200
/** Turns that are kept before they are joined. */
const roughMax = 4 * stretchesMax

interface Turn {
  readonly atMs: number
  readonly standing: MemberStanding
  readonly reason: string
  readonly changes: number
}

export class StretchLine {
  readonly #range: { readonly fromMs: number; readonly toMs: number }
  #turns: Turn[]
  /** Turns nearer than this are joined, and their changes counted. */
  #nearMs = 0

  constructor(range: { readonly fromMs: number; readonly toMs: number }) {
    this.#range = range
    this.#turns = [{ atMs: range.fromMs, standing: 'unknown', reason: '', changes: 0 }]
  }

  /** Drops later turns: a clock was set, or another process continues. */
  turn(atMs: number, standing: MemberStanding, reason = ''): void {
    const { fromMs, toMs } = this.#range
    if (atMs >= toMs) return
    const at = Math.max(fromMs, atMs)
    while (this.#turns.length > 0 && this.#turns.at(-1)!.atMs >= at) this.#turns.pop()
    const last = this.#turns.at(-1)
    if (last?.standing === standing && last.reason === reason && last.changes === 0) return
    this.#turns.push({ atMs: at, standing, reason, changes: 0 })
    if (this.#turns.length > roughMax) this.#coarsen(stretchesMax)
  }

  stretches(): readonly Stretch[] {
    if (this.#turns.length > stretchesMax) this.#coarsen(stretchesMax)
    return this.#turns.map(({ atMs, standing, reason, changes }, i) => {
      const toMs = this.#turns[i + 1]?.atMs ?? this.#range.toMs
      return { fromMs: atMs, toMs, standing, reason, changes }
    })
  }

  #coarsen(most: number): void {
    const { fromMs, toMs } = this.#range
    while (this.#turns.length > most) {
      this.#nearMs = this.#nearMs === 0 ? (toMs - fromMs) / 2_000 : this.#nearMs * 2
      this.#turns = merged(this.#turns, this.#nearMs, toMs)
    }
  }
}

/** Joins short periods with later ones until the result is long enough. */
function merged(turns: readonly Turn[], nearMs: number, toMs: number): Turn[] {
  const found: Turn[] = []
  for (const [i, turn] of turns.entries()) {
    const before = found.at(-1)
    const beforeIsShort = before !== undefined && turn.atMs - before.atMs < nearMs
    const isShort = (turns[i + 1]?.atMs ?? toMs) - turn.atMs < nearMs
    const joins = before !== undefined && (beforeIsShort || (isShort && before.changes > 0))
    if (!joins) found.push(turn)
    else found[found.length - 1] = joined(before, turn)
  }
  return found
}

function joined(before: Turn, turn: Turn): Turn {
  const worse = badness.indexOf(turn.standing) > badness.indexOf(before.standing) ? turn : before
  const { standing, reason } = worse
  return { atMs: before.atMs, standing, reason, changes: before.changes + turn.changes + 1 }
}

const badness: readonly MemberStanding[] = [
  'unknown',
  'absent',
  'up',
  'unprobed',
  'disabled',
  'maintenance',
  'warming',
  'unresolved',
  'down',
]
