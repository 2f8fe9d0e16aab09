// Suspends the scripts of services that exceeded their time in several consecutive runs.
import type { Clock } from '#lib/clock.ts'
import { strikesMax } from '#answer/script-mailbox.ts'

/** Each consecutive pause is twice the last; a run that ends in time resets it. */
export const scriptPause = { firstMs: 1_000, mostMs: 60_000 } as const

interface Penalty {
  untilMs: number
  pauseMs: number
}

export class ScriptPenalties {
  readonly #clock: Clock
  #keys: readonly string[] = []
  #strikes = new Int32Array(new SharedArrayBuffer(0))
  /** By key: a seat keeps its pause across bundles. */
  #records = new Map<string, Penalty>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of suspended scripts. */
  get size(): number {
    const nowMs = this.#clock.monotonicMs()
    return [...this.#records.values()].filter(({ untilMs }) => untilMs > nowMs).length
  }

  /** Makes the strikes for another bundle's seats; seats in both bundles keep theirs. */
  carry(keys: readonly string[]): SharedArrayBuffer {
    const known = new Map(this.#keys.map((key, i) => [key, Atomics.load(this.#strikes, i)]))
    const strikes = new Int32Array(new SharedArrayBuffer(keys.length * 4))
    for (const [i, key] of keys.entries()) strikes[i] = known.get(key) ?? 0
    this.#keys = keys
    this.#strikes = strikes
    const kept = new Set(keys)
    for (const key of this.#records.keys()) if (!kept.has(key)) this.#records.delete(key)
    return strikes.buffer
  }

  clear(): void {
    this.carry([])
  }

  strike(seat: number, strikes: number): void {
    Atomics.add(this.#strikes, seat, strikes)
  }

  /** Call it regularly. @returns the scripts suspended since the last call */
  look(): readonly { readonly seat: number; readonly pauseMs: number }[] {
    const nowMs = this.#clock.monotonicMs()
    const sent: { seat: number; pauseMs: number }[] = []
    for (let i = 0; i < this.#strikes.length; i++) {
      const key = this.#keys[i]!
      const record = this.#records.get(key)
      const strikes = Atomics.load(this.#strikes, i)
      if (strikes === 0) this.#records.delete(key)
      if (strikes < strikesMax) continue
      if (record !== undefined && record.untilMs > nowMs) continue
      if (record?.untilMs !== undefined && record.untilMs !== 0) {
        // One try is allowed: the next timeout suspends the script for longer.
        record.untilMs = 0
        Atomics.store(this.#strikes, i, strikesMax - 1)
        continue
      }
      const longer = Math.min((record?.pauseMs ?? 0) * 2, scriptPause.mostMs)
      const pauseMs = Math.max(longer, scriptPause.firstMs)
      this.#records.set(key, { untilMs: nowMs + pauseMs, pauseMs })
      sent.push({ seat: i, pauseMs })
    }
    return sent
  }
}
