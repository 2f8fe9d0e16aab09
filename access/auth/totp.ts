// Implements one-time codes of authenticator apps: RFC 6238 with SHA-1, six digits, thirty seconds.
import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
/** Steps before and after the present one that are accepted, for clocks that differ. */
const window = 1

interface Enrolment {
  /** In base32. */
  readonly secret: string
  readonly uri: string
}

export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: totpOf(secret, email).toString() }
}

/** A PNG as data: URL. */
export async function qrCode(uri: string): Promise<string> {
  // Loaded on demand: an account asks once.
  const { toDataURL } = await import('qrcode')
  return toDataURL(uri, { type: 'image/png', errorCorrectionLevel: 'M' })
}

/** Steps around the present one in which the code of an enrolment is looked for. */
const searched = 20

/**
 * @param secret in base32
 *
 * @returns the step of thirty seconds that the code belongs to; null: it is wrong
 */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  const delta = deltaOf(secret, code, nowMs, window)
  return delta === null ? null : Math.floor(nowMs / 1_000 / periodSeconds) + delta
}

/**
 * For callers who know the secret alone: a code of the future must not be told from a wrong one.
 *
 * @returns by how much the clock of the app is ahead, in seconds; null: the code is of no time near
 */
export function secondsAhead(secret: string, code: string, nowMs: number): number | null {
  const delta = deltaOf(secret, code, nowMs, searched)
  return delta === null ? null : delta * periodSeconds
}

function deltaOf(secret: string, code: string, nowMs: number, steps: number): number | null {
  // Digits of other scripts have more octets, on which the comparison would throw.
  if (!/^[0-9]{6}$/.test(code)) return null
  const totp = totpOf(Secret.fromBase32(secret), '')
  return totp.validate({ token: code, timestamp: nowMs, window: steps })
}

function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'gslbd', label, secret, digits: 6, period: periodSeconds })
}
