// Limits the rate of logins, against guessing.
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { LoginAttempts } from '#state/ports/login-attempts.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { emailKey } from '#state/ports/users.ts'

/** Attempts in a window; those of an account are forgotten when a login succeeds. */
export const loginLimits = {
  windowMs: 15 * 60_000,
  /** From one network at one account; also codes of one enrolment. */
  perPairMax: 10,
  /** At one account from anywhere. It is high, so that nobody can lock an account easily. */
  perAccountMax: 100,
  /** From one network at any accounts, successful attempts included. */
  perNetworkMax: 300,
} as const

/**
 * Counts an attempt.
 *
 * @returns milliseconds to wait; 0: none. A refused attempt counts only where it was refused: too
 * many attempts at one account must not lock the network for others, nor the account for all.
 */
export async function countAttempt(
  attempts: LoginAttempts,
  account: string,
  address: string,
): Promise<Result<number, StoreFailure>> {
  const { perPairMax, perAccountMax, perNetworkMax } = loginLimits
  const keys = keysOf(account, address)
  // Counted first, so that a locked network leaves no trace of invented accounts.
  const before = await attempts.count(keys.network)
  if (!before.ok) return before
  if (before.value.count >= perNetworkMax) return ok(before.value.resetsInMs)
  for (const [key, most] of [
    [keys.pair, perPairMax],
    [keys.network, perNetworkMax],
    [keys.account, perAccountMax],
  ] as const) {
    const waitMs = await counted(attempts, key, most)
    if (!waitMs.ok || waitMs.value > 0) return waitMs
  }
  return ok(0)
}

/** Counts a try at enrolling an authenticator app, by account, which is signed in. */
export function countEnrolment(
  attempts: LoginAttempts,
  userId: string,
): Promise<Result<number, StoreFailure>> {
  return counted(attempts, `totp:${userId}`, loginLimits.perPairMax)
}

export async function forgetEnrolment(attempts: LoginAttempts, userId: string): Promise<void> {
  await attempts.clear(`totp:${userId}`)
}

/**
 * Counts a login through the identity provider, which counts failures itself; here a network is
 * kept from beginning logins without end.
 */
export function countBeginning(
  attempts: LoginAttempts,
  address: string,
): Promise<Result<number, StoreFailure>> {
  return counted(attempts, `oidc:${networkOf(address)}`, loginLimits.perNetworkMax)
}

/** @returns milliseconds to wait; 0: none */
async function counted(
  attempts: LoginAttempts,
  key: string,
  most: number,
): Promise<Result<number, StoreFailure>> {
  const recorded = await attempts.record(key, loginLimits.windowMs)
  if (!recorded.ok) return recorded
  return ok(recorded.value.count > most ? recorded.value.resetsInMs : 0)
}

/** To be called after a successful login. A store that is away forgets by itself. */
export async function forgetAttempts(
  attempts: LoginAttempts,
  account: string,
  address: string,
): Promise<void> {
  const keys = keysOf(account, address)
  await attempts.clear(keys.pair)
  await attempts.clear(keys.account)
}

/** Hashed, since people sometimes type a password as e-mail address. */
function keysOf(account: string, address: string) {
  const who = createHash('sha256').update(emailKey(account)).digest('base64url')
  const from = networkOf(address)
  return { network: `net:${from}`, pair: `pair:${who}:${from}`, account: `account:${who}` }
}

/** A customer usually has a whole IPv6 /64. */
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
