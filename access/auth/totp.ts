// One-time codes of an authenticator app: RFC 6238 with SHA-1, six digits, thirty seconds.
import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
/** Steps before and after the present one, for clocks that differ. */
const window = 1

export interface Enrolment {
  /** Base32. */
  readonly secret: string
  readonly uri: string
}

export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: totpOf(secret, email).toString() }
}

/** A PNG as a data: URL. */
export async function qrCode(uri: string): Promise<string> {
  // Loaded by the first one: an account asks once.
  const { toDataURL } = await import('qrcode')
  return toDataURL(uri, { type: 'image/png', errorCorrectionLevel: 'M' })
}

/**
 * @param secret base32
 * @returns the thirty-second step that the code belongs to, or null for a wrong code
 */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  // Digits of other scripts have more octets, which the comparison takes for a mistake of ours.
  if (!/^[0-9]{6}$/.test(code)) return null
  const totp = totpOf(Secret.fromBase32(secret), '')
  const delta = totp.validate({ token: code, timestamp: nowMs, window })
  return delta === null ? null : Math.floor(nowMs / 1_000 / periodSeconds) + delta
}

function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'gslbd', label, secret, digits: 6, period: periodSeconds })
}
