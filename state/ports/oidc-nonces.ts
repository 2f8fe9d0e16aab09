// The port to the nonces of OIDC logins that are under way.
import type { StoreCall } from './store-result.ts'

export const nonceLimits = {
  /** How long a login may stay at the provider. */
  ttlMs: 10 * 60_000,
  valueLengthMax: 4_096,
  perNodeMax: 10_000,
} as const

export interface OidcNonces {
  /** @param value what the callback needs, such as the PKCE verifier */
  readonly put: (nonce: string, value: string) => StoreCall<void>
  /** Gives it once; null: never there, used already, or older than ten minutes. */
  readonly take: (nonce: string) => StoreCall<string | null>
}
