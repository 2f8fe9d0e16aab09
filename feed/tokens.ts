// Issues and verifies tokens that open the feed: signed, short-lived, for one connection on any
// node.
import { randomUUID } from 'node:crypto'
import { SignJWT, jwtVerify } from 'jose'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { WebSocketTokens } from '#state/ports/websocket-tokens.ts'
import type { CredentialMark } from '#access/auth/authenticator.ts'
import type { FeedTokenPort } from '#ports/feed-port.ts'
import { feedLimits } from './limits.ts'

const algorithm = 'HS256'
/** Keeps other tokens that may be signed with this key from opening a feed. */
const audience = 'gslbd-feed'
const markForm = /^(dev|system|(session|key):[0-9a-f]{64})$/

export class FeedTokens implements FeedTokenPort {
  readonly #key: Uint8Array
  readonly #used: WebSocketTokens
  readonly #clock: Clock

  /** @param key 32 octets, of this process or of all nodes */
  constructor(key: Uint8Array, used: WebSocketTokens, clock: Clock) {
    this.#key = key
    this.#used = used
    this.#clock = clock
  }

  async issue(mark: CredentialMark): Promise<{ token: string; expiresAtMs: number }> {
    const issuedAt = Math.floor(this.#clock.nowMs() / 1_000)
    const expiresAt = issuedAt + feedLimits.tokenTtlMs / 1_000
    const token = await new SignJWT({ mark })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setAudience(audience)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#key)
    return { token, expiresAtMs: expiresAt * 1_000 }
  }

  async markOf(token: string): Promise<CredentialMark | null> {
    const claims = await this.#claimsOf(token, this.#clock.nowMs())
    return claims?.mark ?? null
  }

  async redeem(token: string): Promise<Result<CredentialMark, StoreFailure | null>> {
    const nowMs = this.#clock.nowMs()
    const claims = await this.#claimsOf(token, nowMs)
    if (claims === null) return err(null)
    const claimed = await this.#used.claim(claims.id, claims.expiresAtMs - nowMs)
    if (!claimed.ok) return claimed
    return claimed.value ? ok(claims.mark) : err(null)
  }

  async #claimsOf(token: string, nowMs: number) {
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: [algorithm],
        audience,
        currentDate: new Date(nowMs),
        requiredClaims: ['exp', 'jti'],
      })
      const { jti: id = '', exp = 0, mark } = payload
      if (typeof mark !== 'string' || !markForm.test(mark)) return null
      return { id, expiresAtMs: exp * 1_000, mark: mark as CredentialMark }
    } catch {
      // Forged, expired or malformed: the client is not told which.
      return null
    }
  }
}
