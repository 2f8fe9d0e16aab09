// /api/v1/auth/totp: an authenticator app as second factor of the caller's own account.
import { Type } from '#lib/schema/type.ts'
import type { TotpState, User } from '#state/ports/users.ts'
import { countEnrolment, forgetEnrolment } from '#access/auth/login-limits.ts'
import { tooMany } from '#access/auth/login.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import { secretKeyFault } from '#access/auth/secret-key.ts'
import { newEnrolment, qrCode, secondsAhead, stepOfCode } from '#access/auth/totp.ts'
import type { Caller } from '#access/caller.ts'
import type { Ports } from '#ports/ports.ts'
import { invalid, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed } from '#http/shapes.ts'
import { storeFailed } from '#http/store-reply.ts'

const route = routesOf({ tag: 'Authentication', withoutConfig: true })

const setup = route('POST /api/v1/auth/totp/setup', {
  needs: 'session',
  summary: 'Begin the enrolment of an authenticator app',
  responses: {
    200: {
      description: 'For the app. The secret counts once a code of it was verified',
      schema: Type.Object({
        secret: Type.String({ description: 'Base32' }),
        uri: Type.String({ description: 'otpauth://totp/…' }),
        qrCode: Type.String({ description: 'The same as a picture: a PNG in a data: URL' }),
      }),
    },
  },
  refusals: [404, 409],
  ports: ['auth', 'users', 'clock'],
  handle: async ({ caller, ports }) => {
    const { secretKey } = ports.auth
    if (secretKey === null) return noSecretKey
    const user = await ownAccount(caller, ports)
    if ('status' in user) return user
    if (user.authProvider === 'oidc') {
      return refused(409, 'the identity provider asks for the second factor of this account')
    }
    if (user.totp?.active === true) return isActive
    const fault = await wrongKey(ports)
    if (fault !== null) return fault
    const { secret, uri } = newEnrolment(user.email)
    const saved = await save(ports, user, {
      secretCiphertext: seal(secretKey, secret),
      active: false,
      lastUsedStep: null,
    })
    return saved ?? success({ secret, uri, qrCode: await qrCode(uri) })
  },
})

const verify = route('POST /api/v1/auth/totp/verify', {
  needs: 'session',
  summary: 'Finish the enrolment with a code of the app',
  body: closed({
    code: Type.String({ pattern: '^[0-9]{6}$', 'x-expected': 'the six digits of the app' }),
  }),
  responses: {
    200: {
      description: 'Every login needs a code from now on',
      schema: Type.Object({ totpEnabled: Type.Literal(true) }),
    },
  },
  refusals: [404, 409, 429],
  ports: ['auth', 'users', 'loginAttempts', 'clock'],
  handle: async ({ caller, ports, body }) => {
    const { secretKey } = ports.auth
    if (secretKey === null) return noSecretKey
    const user = await ownAccount(caller, ports)
    if ('status' in user) return user
    if (user.totp === null) return refused(409, 'begin with POST /api/v1/auth/totp/setup')
    if (user.totp.active) return isActive
    const counted = await countEnrolment(ports.loginAttempts, user.id)
    if (!counted.ok) return storeFailed(counted.error)
    if (counted.value > 0) return tooMany(counted.value)
    const secret = unseal(secretKey, user.totp.secretCiphertext)
    if (!secret.ok) return (await wrongKey(ports)) ?? beginAgain
    const nowMs = ports.clock.nowMs()
    const step = stepOfCode(secret.value, body.code, nowMs)
    if (step === null) return invalid('code', whyWrong(secret.value, body.code, nowMs))
    await forgetEnrolment(ports.loginAttempts, user.id)
    const saved = await save(ports, user, { ...user.totp, active: true, lastUsedStep: step })
    return saved ?? success({ totpEnabled: true })
  },
})

function whyWrong(secret: string, code: string, nowMs: number): string {
  const ahead = secondsAhead(secret, code, nowMs)
  if (ahead === null) return 'is not the one that the app shows now'
  const word = ahead > 0 ? 'ahead of' : 'behind'
  return (
    `is of another time: the clock of the app is ${Math.abs(ahead)} s ${word} that of this node; ` +
    'set the one that is wrong'
  )
}

const noSecretKey = refused(409, 'this node has no GSLB_SECRET_KEY, so it keeps no TOTP secrets')
const beginAgain = refused(409, 'begin again with POST /api/v1/auth/totp/setup')
const isActive = refused(409, 'TOTP is active; an administrator clears it by updating the account')

async function ownAccount({ userId }: Caller, { users }: Ports<'users'>): Promise<User | Reply> {
  const found = await users.find('every-tenant', userId ?? '')
  if (!found.ok) return storeFailed(found.error)
  return found.value ?? missing('user')
}

/** The database may have been away when the node checked the key at its start. */
async function wrongKey({ auth, users }: Ports<'auth' | 'users'>): Promise<Reply | null> {
  const fault = await secretKeyFault(users, auth.secretKey)
  if (!fault.ok) return storeFailed(fault.error)
  return fault.value === null ? null : refused(500, `this node keeps no secrets: ${fault.value}`)
}

/** @returns null when it was saved */
async function save(
  { users, clock }: Ports<'users' | 'clock'>,
  { id }: User,
  totp: TotpState,
): Promise<Reply | null> {
  const saved = await users.update('every-tenant', id, { totp, updatedAtMs: clock.nowMs() })
  if (!saved.ok) return storeFailed(saved.error)
  return saved.value === null ? missing('user') : null
}

export const totpRoutes = Object.freeze([setup, verify])
