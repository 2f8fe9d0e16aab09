// The port to the nonces of OIDC logins in progress.
import type { StoreCall } from './store-result.ts'

export const nonceLimits = {
  /** Time for a login at the provider. */
  ttlMs: 10 * 60_000,
  valueLengthMax: 4_096,
  perNodeMax: 10_000,
} as const

export interface OidcNonces {
  /** @param value data for the callback, such as the PKCE verifier */
  readonly put: (nonce: string, value: string) => StoreCall<void>
  /** Returns the value once; null: unknown, used already, or older than ten minutes. */
  readonly take: (nonce: string) => StoreCall<string | null>
}
