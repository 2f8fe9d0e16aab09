// Whether a request may go on to its handler: a credential, the same origin, the permission.
import type { FastifyRequest } from 'fastify'
import type { Authenticator, Credentials } from './auth/authenticator.ts'
import { bearerOf, sessionTokenOf } from './auth/credentials.ts'
import type { Caller } from './caller.ts'
import { crossSite, isCrossSite, isRebound, reboundHost } from './origin.ts'
import { refused } from './reply.ts'
import type { Reply } from './reply.ts'
import type { Needs } from './route.ts'

export interface Admitted {
  readonly caller: Caller
  /** The session token of a cookie that was taken; null: it was no cookie. */
  readonly cookieToken: string | null
  /** Why it is known who asks, and they may not; null: they may. */
  readonly refusal: Reply | null
}

/** Nobody: for public routes, whose handlers look at no caller. */
const nobody: Caller = Object.freeze<Caller>({
  kind: 'user',
  tenant: '',
  userId: null,
  role: null,
  permissions: new Set(),
  isSystemAdmin: false,
  sessionHash: null,
  keyHash: null,
})

/** @returns who it is and whether they may, or the refusal of a credential */
export async function admit(
  request: FastifyRequest,
  needs: Needs,
  authenticator: Authenticator,
): Promise<Admitted | Reply> {
  const credentials = credentialsOf(request)
  if (needs === 'public') {
    return isCrossSite(request) ? crossSite : { caller: nobody, cookieToken: null, refusal: null }
  }
  const found = await authenticator.authenticate(credentials)
  if ('status' in found) return found
  const { caller, by } = found
  if (by === 'nothing' && isRebound(request)) return reboundHost
  const isForged = by !== 'bearer' && isCrossSite(request)
  return {
    caller,
    cookieToken: by === 'cookie' ? credentials.cookie : null,
    refusal: isForged ? crossSite : refusalOf(needs, caller),
  }
}

function credentialsOf(request: FastifyRequest): Credentials {
  return {
    cookie: sessionTokenOf(request.headers.cookie),
    bearer: bearerOf(request.headers.authorization),
  }
}

function refusalOf(needs: Needs, caller: Caller): Reply | null {
  if (needs === 'public' || needs === 'any') return null
  if (needs === 'session') {
    return caller.userId === null ? refused(403, 'this needs the session of a user') : null
  }
  if (caller.isSystemAdmin) return null
  if (needs === 'system') return refused(403, 'admin access required')
  if (caller.permissions.has(needs)) return null
  return refused(403, `permission denied: this needs ${needs}`)
}
