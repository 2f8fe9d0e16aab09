// Logs in with e-mail address, password and, where set up, a one-time code; opens a session.
import { randomBytes } from 'node:crypto'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { User, Users } from '#state/ports/users.ts'
import type { LoginAttempts } from '#state/ports/login-attempts.ts'
import type { Clock } from '#lib/clock.ts'
import type { AuthenticatorParts } from './authenticator.ts'
import type { Passwords } from './passwords.ts'
import { later, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import { storeFailed } from '#http/store-reply.ts'
import { unixSeconds } from '#http/shapes.ts'
import { tenantPresence, unreadReply } from '#access/unread.ts'
import { setSessionCookie } from '#access/credentials.ts'
import { countAttempt, forgetAttempts } from './login-limits.ts'
import { tokenHash } from './policy.ts'
import { unseal } from '#lib/secret-box.ts'
import { stepOfCode } from './totp.ts'

/** Ports for opening a session of a known account. */
export interface SessionPorts extends Omit<AuthenticatorParts, 'identities'> {
  readonly users: Users
  readonly loginAttempts: LoginAttempts
  readonly clock: Clock
}

interface LoginPorts extends SessionPorts {
  readonly passwords: Passwords
}

interface LoginForm {
  readonly email: string
  readonly password: string
  readonly totpCode?: string
}

export async function logIn(
  ports: LoginPorts,
  { email, password, totpCode }: LoginForm,
  request: RequestFacts,
): Promise<Reply> {
  const counted = await countAttempt(ports.loginAttempts, email, request.address)
  if (!counted.ok) return storeFailed(counted.error)
  if (counted.value > 0) return tooMany(counted.value)
  const found = await ports.users.findByEmail(email)
  if (!found.ok) return storeFailed(found.error)
  const user = found.value
  const verified = await ports.passwords.verify(password, user?.passwordHash ?? null)
  if (!verified.ok) return busy
  if (user === null || !verified.value) return refused(401, 'invalid credentials')
  // Only revealed to callers who know the password.
  const presence = tenantPresence(ports, user.tenantId)
  if (presence === 'unread') {
    // A caller who knows the password does not guess, so attempts are forgotten.
    await forgetAttempts(ports.loginAttempts, email, request.address)
    return unreadReply(ports, null)
  }
  if (presence === 'gone') return refused(401, tenantIsGone)
  const second = await secondFactor(ports, user, totpCode)
  if (second !== null) return second
  await forgetAttempts(ports.loginAttempts, email, request.address)
  const session = await openSession(ports, user)
  if (!session.ok) return storeFailed(session.error)
  const { token, expiresAtMs } = session.value
  const cookie = setSessionCookie(token, ports.auth.sessionTtlMs, request.isSecure)
  const answer = success(
    { token, userId: user.id, role: user.role, expiresAt: unixSeconds(expiresAtMs) },
    { 'set-cookie': cookie },
  )
  return { ...answer, noted: { user: { id: user.id, email: user.email } } }
}

export const tenantIsGone =
  'the tenant of this account does not exist any more; ask a system administrator'

export async function openSession(
  { sessions, auth, clock }: SessionPorts,
  user: User,
): Promise<Result<{ readonly token: string; readonly expiresAtMs: number }, StoreFailure>> {
  const token = randomBytes(32).toString('base64url')
  const identity = {
    userId: user.id,
    tenantId: user.tenantId,
    role: user.role,
    createdAtMs: clock.nowMs(),
  }
  const session = await sessions.create(tokenHash(token), identity, auth.sessionTtlMs)
  return session.ok ? ok({ token, expiresAtMs: session.value.expiresAtMs }) : session
}

/** @returns a refusal; null: there is no second factor, or the code is valid */
async function secondFactor(
  { auth, users, clock }: SessionPorts,
  user: User,
  code: string | undefined,
): Promise<Reply | null> {
  const { totp } = user
  if (totp?.active !== true) return null
  if (code === undefined || code === '') {
    return refused(401, 'TOTP code required', { mfaRequired: true })
  }
  const secret = auth.secretKey === null ? null : unseal(auth.secretKey, totp.secretCiphertext)
  if (secret?.ok !== true) {
    return refused(500, 'the TOTP secret cannot be read: GSLB_SECRET_KEY is not the one it needs')
  }
  const step = stepOfCode(secret.value, code, clock.nowMs())
  const wrong = refused(401, wrongCode, { mfaRequired: true })
  if (step === null) return wrong
  // A code that somebody has seen is not valid a second time.
  const used = await users.useTotpStep(user.id, step)
  if (!used.ok) return storeFailed(used.error)
  return used.value ? null : wrong
}

/** Whether it is of another time is not said: one of the future would be good later. */
const wrongCode =
  'invalid TOTP code: each is good once, and only while the app shows it, by a clock that is right'

export function tooMany(waitMs: number): Reply {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return later(429, `too many attempts; try again in ${seconds} seconds`, seconds)
}

/** Too many passwords wait to be checked. */
export const busy = later(503, 'too many logins at once; try again in a second', 1)
