// /api/v1/auth/oidc: the two requests of a login through an identity provider.
import { Type } from '#lib/schema/type.ts'
import { escapedHtml } from '#lib/text/html.ts'
import { beginLogin, finishLogin } from '#access/auth/oidc-login.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import { routesOf } from '#api/route/route.ts'

const route = routesOf({ tag: 'Authentication', withoutConfig: true })

const authorize = route('GET /api/v1/auth/oidc/authorize', {
  needs: 'public',
  summary: 'Send the browser to the identity provider',
  responses: { 302: { description: 'To the identity provider', schema: null, setsCookie: true } },
  refusals: [404, 429, 502],
  ports: ['oidc', 'oidcNonces', 'loginAttempts', 'log'],
  handle: async ({ ports, request }) => forPerson(await beginLogin(ports, request), request),
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
  handle: async ({ ports, query, request }) => {
    // Other parameters are left out of the next check.
    const { code, state, iss, error, error_description } = query
    const answer = { code, state, iss, error, error_description }
    return forPerson(await finishLogin(ports, answer, request), request)
  },
})

/** A browser that was led here shows its reader the answer, who needs words and a way back. */
function forPerson(answer: Reply, request: RequestFacts): Reply {
  const { error } = (answer.body ?? {}) as { readonly error?: unknown }
  const wantsPage = (request.header('accept') ?? '').includes('text/html')
  if (typeof error !== 'string' || !wantsPage) return answer
  const headers = {
    ...answer.headers,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  }
  return { ...answer, headers, body: pageOf(error) }
}

const pageOf = (error: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Not signed in</title>
</head>
<body>
<h1>You are not signed in</h1>
<p>${escapedHtml(error)}</p>
<p><a href="/">Back to the start</a></p>
</body>
</html>
`

export const oidcRoutes = Object.freeze([authorize, callback])
