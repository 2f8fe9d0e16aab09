// Sessions in Redis; in the memory of this node while Redis is away.
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { EndOf, EndedSessions } from '../file/ended-sessions.ts'
import { MemorySessions } from '../memory/sessions.ts'
import type { Session, SessionIdentity, Sessions } from '../ports/sessions.ts'
import type { StoreCall } from '../ports/store-result.ts'
import type { RedisSessions } from '../redis/sessions.ts'

/** Pause between two recoveries: Redis may have refused one command only. */
const againMs = 1_000

export class FallbackSessions implements Sessions {
  readonly #redis: RedisSessions
  readonly #memory: MemorySessions
  readonly #clock: Clock
  readonly #ended: EndedSessions
  #recovering: Promise<void> | null = null
  #again: NodeJS.Timeout | undefined

  /** @param ended ends of sessions that Redis has yet to learn */
  constructor(redis: RedisSessions, clock: Clock, ended: EndedSessions) {
    this.#redis = redis
    this.#memory = new MemorySessions(clock)
    this.#clock = clock
    this.#ended = ended
  }

  close(): void {
    clearTimeout(this.#again)
  }

  /** Number of sessions that only this node knows. */
  get localCount(): number {
    return this.#memory.size
  }

  readonly create = async (
    tokenHash: string,
    identity: SessionIdentity,
    ttlMs: number,
  ): StoreCall<Session> => {
    // Recovers first: an earlier end of all the user's sessions must not end this one.
    if (this.#ended.has('user', identity.userId)) await this.recover()
    const shared = await this.#redis.create(tokenHash, identity, ttlMs)
    return shared.ok ? shared : await this.#memory.create(tokenHash, identity, ttlMs)
  }

  readonly find = async (tokenHash: string, extendMs: number | null): StoreCall<Session | null> => {
    if (this.#ended.has('session', tokenHash)) return ok(null)
    const local = await this.#memory.find(tokenHash, extendMs)
    if (local.ok && local.value !== null) {
      this.#recoverSoon()
      return local
    }
    const shared = await this.#redis.find(tokenHash, extendMs)
    if (!shared.ok) return ok(null)
    this.#recoverSoon()
    const isEnded = shared.value !== null && this.#ended.has('user', shared.value.userId)
    return isEnded ? ok(null) : shared
  }

  readonly revoke = async (tokenHash: string): StoreCall<boolean> => {
    const local = await this.#memory.revoke(tokenHash)
    const shared = await this.#redis.revoke(tokenHash)
    const wasLocal = local.ok && local.value
    if (shared.ok) return ok(wasLocal || shared.value)
    if (!this.#remember('session', tokenHash)) return err(shared.error)
    return ok(wasLocal)
  }

  readonly revokeUser = async (userId: string): StoreCall<number> => {
    const local = await this.#memory.revokeUser(userId)
    const shared = await this.#redis.revokeUser(userId)
    const localCount = local.ok ? local.value : 0
    if (shared.ok) return ok(localCount + shared.value)
    if (!this.#remember('user', userId)) return err(shared.error)
    return ok(localCount)
  }

  /** Sends Redis what it missed: ends first, then new sessions. Safe to call at any time. */
  readonly recover = async (): Promise<void> => {
    this.#recovering ??= this.#recover().finally(() => {
      this.#recovering = null
      this.#ended.settle()
      this.#tryAgain()
    })
    await this.#recovering
  }

  async #recover(): Promise<void> {
    for (const [hash] of this.#ended.all('session')) {
      if (!(await this.#redis.revoke(hash)).ok) return
      this.#ended.delete('session', hash)
    }
    for (const [userId, agoMs] of this.#ended.all('user')) {
      if (!(await this.#redis.revokeUser(userId, agoMs)).ok) return
      this.#ended.delete('user', userId)
    }
    for (const { tokenHash, identity, leftMs } of this.#memory.all()) {
      const ageMs = this.#clock.nowMs() - identity.createdAtMs
      if (!(await this.#redis.adopt(tokenHash, identity, leftMs, ageMs)).ok) return
      // The session was ended in the meantime.
      const left = await this.#memory.revoke(tokenHash)
      if (left.ok && !left.value) await this.revoke(tokenHash)
    }
  }

  #recoverSoon(): void {
    if (this.#memory.size + this.#ended.size > 0) void this.recover()
  }

  #remember(what: EndOf, id: string): boolean {
    if (!this.#ended.add(what, id)) return false
    this.#tryAgain()
    return true
  }

  #tryAgain(): void {
    if (this.#ended.size === 0 || this.#again !== undefined) return
    this.#again = setTimeout(() => {
      this.#again = undefined
      void this.recover()
    }, againMs).unref()
  }
}
