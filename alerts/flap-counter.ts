// Counts recent health changes of each member.
import type { Clock } from '#lib/clock.ts'

export const flapLimits = {
  windowMs: 10 * 60_000,
  /** Changes within the window that count as flapping. */
  changesMin: 6,
  /** Changes that are remembered of a member; the oldest is dropped. */
  changesMax: 100,
  /** Members that are remembered; changes of further ones are not counted. */
  membersMax: 50_000,
} as const

export interface Flapping {
  readonly uid: string
  readonly address: string
  readonly changes: number
}

interface Changes {
  readonly uid: string
  readonly address: string
  /** By the monotonic clock, oldest first. */
  readonly atMs: number[]
}

export class FlapCounter {
  readonly #clock: Clock
  readonly #members = new Map<string, Changes>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(uid: string, address: string): void {
    const key = `${uid} ${address}`
    const known = this.#members.get(key)
    if (known === undefined && this.#members.size >= flapLimits.membersMax) return
    const changes = known ?? { uid, address, atMs: [] }
    if (changes.atMs.length >= flapLimits.changesMax) changes.atMs.shift()
    changes.atMs.push(this.#clock.monotonicMs())
    this.#members.set(key, changes)
  }

  /** Drops changes that are older than the window. */
  flapping(): readonly Flapping[] {
    const afterMs = this.#clock.monotonicMs() - flapLimits.windowMs
    const found: Flapping[] = []
    for (const [key, { uid, address, atMs }] of this.#members) {
      while (atMs.length > 0 && atMs[0]! <= afterMs) atMs.shift()
      if (atMs.length === 0) this.#members.delete(key)
      else if (atMs.length >= flapLimits.changesMin)
        found.push({ uid, address, changes: atMs.length })
    }
    return found
  }
}
