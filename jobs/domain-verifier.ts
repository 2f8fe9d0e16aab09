// Checks delegated domains: each periodically by one of the nodes, and one at once on request.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Random } from '#lib/random.ts'
import type { DomainClaim, DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'

interface DomainVerifierParts {
  readonly store: Domains
  /** Domains of the accepted configuration; empty before there is one. */
  readonly domains: () => readonly OwnedDomain[]
  /** Never rejects, and ends in bounded time. */
  readonly check: (domain: string) => Promise<DomainResult>
  readonly intervalMs: number
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export const verifierLimits = {
  /** Periodic checks at the same time. */
  atOnce: 16,
  /** Requested checks at the same time, over all tenants. */
  askedMax: 8,
  /** Requested checks of one tenant at the same time. */
  askedPerTenantMax: 4,
  /** No check is begun later in one look. */
  lookMs: 15_000,
  /** A node's claim of a domain lasts for so long: longer than a check takes. */
  claimMs: 60_000,
  /** Share of the interval by which a check may be early or late. */
  jitter: 0.1,
} as const

type VerifyFault = 'busy' | StoreFailure

interface Asked {
  readonly tenant: string
  readonly checking: Promise<Result<DomainResult, VerifyFault>>
}

export class DomainVerifier {
  readonly #parts: DomainVerifierParts
  /** When this node next looks at a domain, by uid and the monotonic clock. */
  #dueMs = new Map<string, number>()
  readonly #asked = new Map<string, Asked>()
  #isAwayLogged = false

  constructor(parts: DomainVerifierParts) {
    this.#parts = parts
  }

  /** Checks what is due, as far as time permits. */
  async look(): Promise<void> {
    const { clock, domains } = this.#parts
    const startMs = clock.monotonicMs()
    const all = domains()
    this.#keepOnly(all)
    const due = inTurns(all.filter(({ uid }) => (this.#dueMs.get(uid) ?? 0) <= startMs))
    for (let i = 0; i < due.length; i += verifierLimits.atOnce) {
      if (clock.monotonicMs() - startMs >= verifierLimits.lookMs) return
      if (!(await this.#checkSome(due.slice(i, i + verifierLimits.atOnce)))) return
    }
  }

  /** Checks at once; simultaneous requests for a domain share a check. */
  verify({ uid, domain, tenant }: OwnedDomain): Promise<Result<DomainResult, VerifyFault>> {
    const key = `${uid} ${domain}`
    const running = this.#asked.get(key)
    if (running !== undefined) return running.checking
    const { askedMax, askedPerTenantMax } = verifierLimits
    const own = [...this.#asked.values()].filter((one) => one.tenant === tenant)
    if (this.#asked.size >= askedMax || own.length >= askedPerTenantMax) {
      return Promise.resolve(err('busy'))
    }
    const checking = this.#checkOne({ uid, domain }).finally(() => this.#asked.delete(key))
    this.#asked.set(key, { tenant, checking })
    return checking
  }

  #keepOnly(all: readonly DomainClaim[]): void {
    const known = this.#dueMs
    if (known.size <= all.length) return
    this.#dueMs = new Map(all.map(({ uid }) => [uid, known.get(uid) ?? 0]))
  }

  /** @returns false: the store is away, and the rest waits for the next look */
  async #checkSome(some: readonly DomainClaim[]): Promise<boolean> {
    const { store, clock, intervalMs } = this.#parts
    const nowMs = clock.nowMs()
    const dueBeforeMs = nowMs - intervalMs * (1 - verifierLimits.jitter)
    const untilMs = nowMs + verifierLimits.claimMs
    const claimed = await store.claim(some, { nowMs, dueBeforeMs, untilMs })
    this.#tell(claimed.ok ? null : claimed.error)
    if (!claimed.ok) return false
    for (const { uid } of some) {
      this.#dueMs.set(uid, this.#nextMs(claimed.value.has(uid) ? intervalMs : intervalMs / 4))
    }
    const mine = some.filter(({ uid }) => claimed.value.has(uid))
    const done = await Promise.all(mine.map((one) => this.#checkOne(one)))
    const fault = done.find((one) => !one.ok)
    if (fault?.ok !== false || fault.error === 'busy') return true
    this.#tell(fault.error)
    return false
  }

  async #checkOne({ uid, domain }: DomainClaim): Promise<Result<DomainResult, VerifyFault>> {
    const result = await this.#parts.check(domain)
    const stored = await this.#parts.store.put(uid, result)
    return stored.ok ? ok(result) : stored
  }

  /** When a domain is due again, at random so that not all nodes check at once. */
  #nextMs(intervalMs: number): number {
    const { clock, random } = this.#parts
    const spread = (random.next() / 0xffff_ffff) * 2 - 1
    return clock.monotonicMs() + intervalMs * (1 + spread * verifierLimits.jitter)
  }

  /** Logs once that the store is away, unless it is being made. */
  #tell(fault: StoreFailure | null): void {
    const isAway = fault !== null && fault.code !== 'store-starting'
    if (isAway && !this.#isAwayLogged) {
      this.#parts.log.warn({}, `delegated domains are not checked: ${fault.message}`)
    }
    this.#isAwayLogged = isAway
  }
}

/** Takes turns among tenants, so that slow domains of one delay only that one. */
function inTurns(all: readonly OwnedDomain[]): readonly OwnedDomain[] {
  const seen = new Map<string, number>()
  const turns = all.map((one) => {
    const turn = seen.get(one.tenant) ?? 0
    seen.set(one.tenant, turn + 1)
    return { one, turn }
  })
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one)
}
