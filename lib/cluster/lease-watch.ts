// Watches a lease that processes share in a database: when its holder counts as dead, and when this
// process has to give a sign. Clocks of nodes are never compared.
import type { Clock } from '../clock.ts'

export class LeaseWatch {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #abandonedMs: number
  #seen: { readonly mark: string | number; readonly atMs: number } | undefined
  #beatAtMs = -Infinity

  /** @param abandonedMs without a sign of its holder for so long, another process takes it */
  constructor(clock: Pick<Clock, 'monotonicMs'>, abandonedMs: number) {
    this.#clock = clock
    this.#abandonedMs = abandonedMs
  }

  /** @param mark another one after each sign of the holder, such as a revision */
  isAbandoned(mark: string | number): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (this.#seen?.mark !== mark) this.#seen = { mark, atMs: nowMs }
    return nowMs - this.#seen.atMs >= this.#abandonedMs
  }

  /** Whether this process has to give a sign now: true once in each interval. */
  isBeatDue(intervalMs: number): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#beatAtMs < intervalMs) return false
    this.#beatAtMs = nowMs
    return true
  }
}

/** What a process writes into a lease; names of nodes have no blanks. */
export const holderOf = (node: string, instance: string): string => `${node} ${instance}`

/** Whether nobody holds it, or an earlier process of the same node, which has ended by now. */
export const isFreeFor = (node: string, holder: string): boolean =>
  holder === '' || holder.startsWith(holderOf(node, ''))
