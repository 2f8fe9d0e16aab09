// The login policy: the `auth` settings and the keys of the environment.
import { createHash, timingSafeEqual } from 'node:crypto'

export interface AuthPolicy {
  /** null: GSLB_API_KEY is not set, dev mode. */
  readonly systemKey: SystemKey | null
  /** GSLB_BUNDLE_TOKEN, which opens bundles alone; null or left out: it is not set. */
  readonly bundleToken?: SystemKey | null
  /** GSLB_METRICS_TOKEN, which opens /metrics alone; null or left out: it is not set. */
  readonly metricsToken?: SystemKey | null
  /** GSLB_WEBHOOK_SECRET, which forges sign with; null or left out: it is not set. */
  readonly webhookSecret?: string | null
  /** 32 bytes of GSLB_SECRET_KEY; null: not set, and TOTP is not to be had. */
  readonly secretKey: Uint8Array | null
  readonly sessionTtlMs: number
  /** Each request of a session lets its life begin anew. */
  readonly sessionExtend: boolean
  /** 10 to 14. */
  readonly bcryptCost: number
  readonly setupEndpoint: boolean
  /** With it the first account is made from another machine; null or left out: there is none. */
  readonly setupCode?: SystemKey | null
}

/** The system API key, of which only the hash is kept. */
export interface SystemKey {
  /** Takes the same time for every text of one length. */
  readonly matches: (presented: string) => boolean
}

export function systemKey(key: string): SystemKey {
  const expected = sha256(key)
  return { matches: (presented) => timingSafeEqual(sha256(presented), expected) }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()

/** How tokens and keys are stored: 64 hexadecimal digits. */
export function tokenHash(token: string): string {
  return sha256(token).toString('hex')
}
