// Sessions in memory.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { sessionLimits } from '../ports/sessions.ts'
import type { Session, SessionIdentity, Sessions } from '../ports/sessions.ts'
import type { StoreCall } from '../ports/store-result.ts'
import { ExpiringMap } from './expiring-map.ts'

export class MemorySessions implements Sessions {
  readonly #clock: Clock
  readonly #sessions: ExpiringMap<SessionIdentity>
  readonly #ofUser = new Map<string, Set<string>>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sessions = new ExpiringMap(clock, sessionLimits.perNodeMax, (hash, { userId }) =>
      this.#forget(hash, userId),
    )
  }

  get size(): number {
    return this.#sessions.size
  }

  readonly create = async (
    tokenHash: string,
    identity: SessionIdentity,
    ttlMs: number,
  ): StoreCall<Session> => {
    const { userId, tenantId, role, createdAtMs } = identity
    const kept = { userId, tenantId, role, createdAtMs }
    this.#sessions.set(tokenHash, kept, ttlMs)
    const own = this.#ofUser.get(userId) ?? new Set()
    this.#ofUser.set(userId, own.add(tokenHash))
    if (own.size > sessionLimits.perUserMax) this.#dropOne(own)
    return ok({ ...kept, expiresAtMs: this.#clock.nowMs() + ttlMs })
  }

  readonly find = async (tokenHash: string, extendMs: number | null): StoreCall<Session | null> => {
    const found = this.#sessions.get(tokenHash)
    if (found === undefined) return ok(null)
    const { value, leftMs } = found
    if (extendMs !== null) await this.create(tokenHash, value, extendMs)
    return ok({ ...value, expiresAtMs: this.#clock.nowMs() + (extendMs ?? leftMs) })
  }

  readonly revoke = async (tokenHash: string): StoreCall<boolean> =>
    ok(this.#sessions.delete(tokenHash))

  readonly revokeUser = async (userId: string): StoreCall<number> => {
    const hashes = [...(this.#ofUser.get(userId) ?? [])]
    return ok(hashes.filter((hash) => this.#sessions.delete(hash)).length)
  }

  /** All sessions, for copying to a shared store. */
  all(): readonly { tokenHash: string; identity: SessionIdentity; leftMs: number }[] {
    return this.#sessions.keys().flatMap((tokenHash) => {
      const found = this.#sessions.get(tokenHash)
      return found === undefined ? [] : [{ tokenHash, identity: found.value, leftMs: found.leftMs }]
    })
  }

  #dropOne(own: ReadonlySet<string>): void {
    let first: string | undefined
    let leastMs = Number.POSITIVE_INFINITY
    for (const hash of [...own]) {
      const leftMs = this.#sessions.get(hash)?.leftMs ?? leastMs
      if (leftMs < leastMs) [first, leastMs] = [hash, leftMs]
    }
    if (first !== undefined && own.size > sessionLimits.perUserMax) this.#sessions.delete(first)
  }

  #forget(hash: string, userId: string): void {
    const own = this.#ofUser.get(userId)
    own?.delete(hash)
    if (own?.size === 0) this.#ofUser.delete(userId)
  }
}
