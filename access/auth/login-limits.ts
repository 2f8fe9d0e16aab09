// Rate limits of logins, against guessing.
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { LoginAttempts } from '#state/ports/login-attempts.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { emailKey } from '#state/ports/users.ts'

/** Attempts per window; those of an account are forgotten when a login succeeds. */
export const loginLimits = {
  windowMs: 15 * 60_000,
  /** From one network, at one account; and codes of one enrolment. */
  perPairMax: 10,
  /** At one account, wherever from. Higher, or else anybody could lock anybody out. */
  perAccountMax: 100,
  /** From one network, at whichever accounts, successful ones too. */
  perNetworkMax: 300,
} as const

/**
 * Milliseconds to wait; 0: go on. Counts this attempt, but one that is refused only where it is
 * refused: what somebody tries in excess at one account must not lock the network for others, nor
 * the account for all.
 */
export async function countAttempt(
  attempts: LoginAttempts,
  account: string,
  address: string,
): Promise<Result<number, StoreFailure>> {
  const { windowMs, perPairMax, perAccountMax, perNetworkMax } = loginLimits
  const keys = keysOf(account, address)
  // First of all, so that a network that is locked leaves no trace of made-up accounts.
  const before = await attempts.count(keys.network)
  if (!before.ok) return before
  if (before.value.count >= perNetworkMax) return ok(before.value.resetsInMs)
  for (const [key, most] of [
    [keys.pair, perPairMax],
    [keys.network, perNetworkMax],
    [keys.account, perAccountMax],
  ] as const) {
    const counted = await attempts.record(key, windowMs)
    if (!counted.ok) return counted
    if (counted.value.count > most) return ok(counted.value.resetsInMs)
  }
  return ok(0)
}

/**
 * Counts a try at enrolling an authenticator app, for the signed-in account alone, since the
 * network says nothing more. Milliseconds to wait; 0: go on.
 */
export async function countEnrolment(
  attempts: LoginAttempts,
  userId: string,
): Promise<Result<number, StoreFailure>> {
  const counted = await attempts.record(`totp:${userId}`, loginLimits.windowMs)
  if (!counted.ok) return counted
  return ok(counted.value.count > loginLimits.perPairMax ? counted.value.resetsInMs : 0)
}

export async function forgetEnrolment(attempts: LoginAttempts, userId: string): Promise<void> {
  await attempts.clear(`totp:${userId}`)
}

/**
 * A login through the identity provider, which counts failures itself: here a network only cannot
 * begin them without end. Milliseconds to wait; 0: go on.
 */
export async function countBeginning(
  attempts: LoginAttempts,
  address: string,
): Promise<Result<number, StoreFailure>> {
  const counted = await attempts.record(`oidc:${networkOf(address)}`, loginLimits.windowMs)
  if (!counted.ok) return counted
  return ok(counted.value.count > loginLimits.perNetworkMax ? counted.value.resetsInMs : 0)
}

/** After a login that succeeded. A store that is away forgets by itself. */
export async function forgetAttempts(
  attempts: LoginAttempts,
  account: string,
  address: string,
): Promise<void> {
  const keys = keysOf(account, address)
  await attempts.clear(keys.pair)
  await attempts.clear(keys.account)
}

/** Hashes: what is typed as an e-mail address is sometimes a password. */
function keysOf(account: string, address: string) {
  const who = createHash('sha256').update(emailKey(account)).digest('base64url')
  const from = networkOf(address)
  return { network: `net:${from}`, pair: `pair:${who}:${from}`, account: `account:${who}` }
}

/** One customer has a whole /64 of IPv6. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0')
  return `${[...groups, ...after].slice(0, 4).join(':').toLowerCase()}::/64`
}
