// /api/v1/auth/oidc: the two requests of a login through an identity provider.
import { Type } from '#lib/schema/type.ts'
import { beginLogin, finishLogin } from '#access/auth/oidc-login.ts'
import { routesOf } from '#api/route/route.ts'

const route = routesOf({ tag: 'Authentication', withoutConfig: true })

const authorize = route('GET /api/v1/auth/oidc/authorize', {
  needs: 'public',
  summary: 'Send the browser to the identity provider',
  responses: { 302: { description: 'To the identity provider', schema: null, setsCookie: true } },
  refusals: [404, 429, 502],
  ports: ['oidc', 'oidcNonces', 'loginAttempts', 'log'],
  handle: ({ ports, request }) => beginLogin(ports, request),
})

const word = (description: string) => Type.Optional(Type.String({ maxLength: 4_096, description }))

const callback = route('GET /api/v1/auth/oidc/callback', {
  needs: 'public',
  summary: 'Begin a session for somebody who comes back from the identity provider',
  // Providers add parameters of their own.
  query: Type.Object({
    code: word('For one exchange at the provider'),
    state: word('As it was given to the provider'),
    iss: word('Who answers (RFC 9207)'),
    error: word('Why there is no code'),
    error_description: word('The same in words, which are not shown'),
  }),
  responses: {
    302: {
      description: 'To /, with the session in the cookie gslb_session',
      schema: null,
      setsCookie: true,
    },
  },
  refusals: [401, 403, 404, 409, 502],
  ports: [
    'view',
    'config',
    'auth',
    'identities',
    'oidc',
    'oidcNonces',
    'users',
    'sessions',
    'loginAttempts',
    'tenants',
    'clock',
    'log',
  ],
  handle: ({ ports, query, request }) => {
    // Other parameters are left out of the next check.
    const { code, state, iss, error, error_description } = query
    return finishLogin(ports, { code, state, iss, error, error_description }, request)
  },
})

export const oidcRoutes = Object.freeze([authorize, callback])
