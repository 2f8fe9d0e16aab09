// Defines the login policy: the `auth` settings and the keys of the environment.
import { createHash, timingSafeEqual } from 'node:crypto'

export interface AuthPolicy {
  /** null: GSLB_API_KEY is not set, so this is dev mode. */
  readonly systemKey: SystemKey | null
  /** GSLB_BUNDLE_TOKEN, for bundles only; null or left out: not set. */
  readonly bundleToken?: SystemKey | null
  /** GSLB_METRICS_TOKEN, for /metrics only; null or left out: not set. */
  readonly metricsToken?: SystemKey | null
  /** GSLB_WEBHOOK_SECRET, by which forges sign; null or left out: not set. */
  readonly webhookSecret?: string | null
  /** 32 octets of GSLB_SECRET_KEY; null: not set, so there is no TOTP. */
  readonly secretKey: Uint8Array | null
  readonly sessionTtlMs: number
  /** True: each request extends its session. */
  readonly sessionExtend: boolean
  /** 10 to 14. */
  readonly bcryptCost: number
  readonly setupEndpoint: boolean
  /** Permits the first account from another machine; null or left out: there is none. */
  readonly setupCode?: SystemKey | null
}

/** The system API key, kept as a hash. */
export interface SystemKey {
  /** Takes the same time for every text of one length. */
  readonly matches: (presented: string) => boolean
}

export function systemKey(key: string): SystemKey {
  const expected = sha256(key)
  return { matches: (presented) => timingSafeEqual(sha256(presented), expected) }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()

/** The stored form of tokens and keys: 64 hexadecimal digits. */
export function tokenHash(token: string): string {
  return sha256(token).toString('hex')
}
