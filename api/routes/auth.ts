// /api/v1/auth: first-run setup, login, logout, the current user.
import { Type } from '#lib/schema/type.ts'
import { licensedFeatures } from '#licence/gate.ts'
import { uuidV7 } from '#lib/uuid.ts'
import type { NewUser } from '#state/ports/users.ts'
import { setSessionCookie } from '#access/credentials.ts'
import { busy, logIn, tooMany } from '#access/auth/login.ts'
import { countAttempt } from '#access/auth/login-limits.ts'
import { needsSetupCode, setupRefusal } from '#access/auth/first-setup.ts'
import { passwordFault } from '#access/auth/passwords.ts'
import { systemAdministrator } from '#access/caller.ts'
import { created, invalid, missing, noContent, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, nullable } from '#http/shapes.ts'
import { storeFailed } from '#http/store-reply.ts'
import { AnyText, Email, NewPassword, UserJson, toUserJson } from '#access/auth/user-json.ts'

const route = routesOf({ tag: 'Authentication', withoutConfig: true })

const setup = route('POST /api/v1/auth/setup', {
  needs: 'public',
  summary: 'Create the first account, while there never was one',
  details:
    'From the first account on it is 404 for ever, also when all accounts were deleted. ' +
    'With `auth.setupEndpoint: false` it is 404 from the start. A program of the same machine ' +
    'that speaks to the node itself needs no credential; everybody else sends the system key as ' +
    'a bearer token, or the code that the log of the node shows.',
  body: closed({
    email: Email,
    password: NewPassword,
    setupCode: Type.Optional(
      Type.String({ maxLength: 64, description: 'From the log; good until there is an account' }),
    ),
  }),
  responses: { 201: { description: 'The system administrator', schema: UserJson } },
  refusals: [401, 404, 429],
  // Checked before the body: once there is an account, every body gets the same answer.
  ports: ['auth', 'passwords', 'users', 'loginAttempts', 'clock'],
  precheck: async (_request, { users, auth }) => {
    const hadAny = auth.setupEndpoint ? await users.hadAny() : null
    if (hadAny?.ok === false) return storeFailed(hadAny.error)
    return hadAny === null || hadAny.value ? missing('endpoint') : null
  },
  handle: async ({ ports, body, request }) => {
    const { users, clock } = ports
    const counted = await countAttempt(ports.loginAttempts, '', request.address)
    if (!counted.ok) return storeFailed(counted.error)
    if (counted.value > 0) return tooMany(counted.value)
    const refusal = setupRefusal(request, ports.auth, body.setupCode)
    if (refusal !== null) return refusal
    const fault = passwordFault(body.password)
    if (fault !== undefined) return invalid('password', fault)
    const hash = await ports.passwords.hash(body.password)
    if (!hash.ok) return busy
    const nowMs = clock.nowMs()
    const account: NewUser = {
      id: uuidV7(nowMs),
      email: body.email,
      displayName: '',
      ...systemAdministrator,
      authProvider: 'password',
      passwordHash: hash.value,
      createdAtMs: nowMs,
    }
    const user = await users.createFirst(account, 'all-time')
    if (user.ok) {
      const { id, email } = user.value
      return { ...created(toUserJson(user.value)), noted: { user: { id, email } } }
    }
    return user.error.code === 'not-first' ? missing('endpoint') : storeFailed(user.error)
  },
})

const login = route('POST /api/v1/auth/login', {
  needs: 'public',
  summary: 'Begin a session',
  body: closed({
    email: AnyText,
    password: AnyText,
    totpCode: Type.Optional(Type.String({ maxLength: 16 })),
  }),
  responses: {
    200: {
      description: 'The token of the session, which the cookie gslb_session holds as well',
      setsCookie: true,
      schema: Type.Object({
        token: Type.String(),
        userId: Type.String(),
        role: Type.String(),
        expiresAt: Type.Integer({ description: 'Unix seconds' }),
      }),
    },
  },
  refusals: [401, 429],
  refusalBodies: {
    401: Type.Object({
      error: Type.String(),
      mfaRequired: Type.Optional(
        Type.Literal(true, { description: 'The password is right: send the code with it' }),
      ),
    }),
  },
  ports: [
    'view',
    'config',
    'auth',
    'passwords',
    'users',
    'sessions',
    'loginAttempts',
    'tenants',
    'clock',
  ],
  handle: ({ ports, body, request }) => logIn(ports, body, request),
})

const logout = route('POST /api/v1/auth/logout', {
  needs: 'any',
  summary: 'End this session, on all nodes',
  details:
    'The session of the cookie goes before that of a token. A key has no session: it gets the ' +
    'same answer, and nothing ends.',
  query: closed({
    everywhere: Type.Optional(
      Type.Boolean({ description: 'End all sessions of the account, in every browser' }),
    ),
  }),
  responses: { 204: { description: 'It is over', schema: null, setsCookie: true } },
  ports: ['sessions'],
  handle: async ({ caller: { sessionHash, userId }, ports, request, query }) => {
    if (sessionHash !== null) {
      const isEvery = query.everywhere === true && userId !== null
      const revoked = isEvery
        ? await ports.sessions.revokeUser(userId)
        : await ports.sessions.revoke(sessionHash)
      if (!revoked.ok) return storeFailed(revoked.error)
    }
    return noContent({ 'set-cookie': setSessionCookie('', 0, request.isSecure) })
  },
})

const me = route('GET /api/v1/auth/me', {
  needs: 'any',
  summary: 'Who the credential stands for and what it may do',
  responses: {
    200: {
      description: 'What belongs to a user is null for a key and in dev mode',
      schema: Type.Object({
        kind: Type.Enum(['system', 'user', 'tenant', 'dev']),
        id: nullable(Type.String()),
        email: nullable(Type.String()),
        displayName: nullable(Type.String()),
        role: nullable(Type.String()),
        tenantId: Type.String(),
        authProvider: nullable(Type.String()),
        totpEnabled: Type.Boolean(),
        permissions: Type.Array(Type.String()),
        isSystemAdmin: Type.Boolean(),
        unlicensed: Type.Array(Type.Object({ feature: Type.String(), reason: Type.String() }), {
          description: 'Why calls with this `x-licensed-feature` are refused now',
        }),
      }),
    },
  },
  ports: ['users', 'licence'],
  handle: async ({ caller, ports }) => {
    const { kind, tenant, userId, role, permissions, isSystemAdmin } = caller
    const found = userId === null ? null : await ports.users.find('every-tenant', userId)
    if (found?.ok === false) return storeFailed(found.error)
    const user = found?.value ?? null
    return success({
      kind,
      id: userId,
      email: user?.email ?? null,
      displayName: user?.displayName ?? null,
      role: user?.role ?? role,
      tenantId: user?.tenantId ?? tenant,
      authProvider: user?.authProvider ?? null,
      totpEnabled: user?.totp?.active ?? false,
      permissions: [...permissions].toSorted(),
      isSystemAdmin,
      unlicensed: licensedFeatures.flatMap((feature) => {
        const reason = ports.licence.refusal(feature)
        return reason === undefined ? [] : [{ feature, reason }]
      }),
    })
  },
})

const config = route('GET /api/v1/auth/config', {
  needs: 'public',
  summary: 'What the login page needs to know',
  responses: {
    200: {
      description: 'Whether single sign-on is possible, and whether setup is still to be done',
      schema: Type.Object({
        oidcEnabled: Type.Boolean(),
        setupOpen: Type.Boolean(),
        starting: Type.Boolean({ description: 'The database is being made: ask again in seconds' }),
        setupNeedsCode: Type.Boolean({ description: 'Of whoever asks as this request did' }),
      }),
    },
  },
  ports: ['auth', 'oidc', 'users'],
  handle: async ({ ports: { oidc, auth, users }, request }) => {
    const hadAny = await users.hadAny()
    const starting = !hadAny.ok && hadAny.error.code === 'store-starting'
    const setupOpen = auth.setupEndpoint && hadAny.ok && !hadAny.value
    const setupNeedsCode = setupOpen && needsSetupCode(request, auth)
    return success({ oidcEnabled: oidc !== null, setupOpen, starting, setupNeedsCode })
  },
})

export const authRoutes = Object.freeze([setup, login, logout, me, config])
