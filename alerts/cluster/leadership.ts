// Elects the node that opens and sends alerts, by a lease in the database that is taken and renewed
// by compare-and-swap. Other nodes time the lease by their own clocks.
import type { Clock } from '#lib/clock.ts'
import { LeaseWatch } from '#lib/cluster/lease-watch.ts'
import type { AlertLease, AlertStore } from '#state/ports/alerts.ts'
import { clusterLimits } from './limits.ts'

interface LeadershipParts {
  readonly store: Pick<AlertStore, 'lease' | 'takeLease' | 'renewLease' | 'releaseLease'>
  /** Unique for this process, also among later ones on the same node. */
  readonly holder: string
  /** True: no other node uses the database. */
  readonly isAlone: boolean
  readonly clock: Clock
}

export class Leadership {
  readonly #parts: LeadershipParts
  readonly #watch: LeaseWatch
  #own: AlertLease | null = null

  constructor(parts: LeadershipParts) {
    this.#parts = parts
    this.#watch = new LeaseWatch(parts.clock, clusterLimits.leaseMs)
  }

  /** @returns the term while this node leads; null: it does not, or that is unknown */
  async look(): Promise<number | null> {
    const { isAlone } = this.#parts
    if (this.#own !== null) {
      if (isAlone) return this.#own.term
      const own = await this.#renew(this.#own)
      if (own !== undefined) return own
    }
    return await this.#take()
  }

  /** Ends the lease, so that the next leader need not wait. */
  async release(): Promise<void> {
    if (this.#own !== null) await this.#parts.store.releaseLease(this.#own)
    this.#own = null
  }

  /** @returns undefined: another node leads now */
  async #renew(own: AlertLease): Promise<number | null | undefined> {
    const renewed = await this.#parts.store.renewLease(own)
    // The lease may be this node's all the same; what needs the term checks it.
    if (!renewed.ok) return null
    this.#own = renewed.value
    return renewed.value === null ? undefined : renewed.value.term
  }

  async #take(): Promise<number | null> {
    const { store, holder, isAlone } = this.#parts
    const found = await store.lease()
    if (!found.ok) return null
    const lease = found.value
    // The lease was taken, though the answer of the database was lost.
    if (lease?.holder === holder) {
      this.#own = lease
      return lease.term
    }
    const isFree = lease === null || lease.holder === '' || isAlone
    if (!isFree && !this.#watch.isAbandoned(`${lease.term} ${lease.beat}`)) return null
    const taken = await store.takeLease(lease, holder)
    if (!taken.ok) return null
    this.#own = taken.value
    return taken.value?.term ?? null
  }
}
